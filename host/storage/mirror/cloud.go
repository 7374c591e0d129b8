//go:build s3 || gcs || azure

package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// cloud is a bucket of a store whose client is in this program.
type cloud struct{ *blob.Bucket }

// hasCloud reports whether this program has the client for URLs with a scheme.
func hasCloud(scheme string) bool { return blob.DefaultURLMux().ValidBucketScheme(scheme) }

// openCloud opens the part of a bucket whose keys begin with prefix.
func openCloud(ctx context.Context, url, prefix string) (bucket, error) {
	b, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, err
	}
	if prefix != "" {
		b = blob.PrefixedBucket(b, prefix+"/")
	}
	return cloud{b}, nil
}

// known gives the errors that callers know their names of package fs.
func known(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case gcerrors.FailedPrecondition, gcerrors.AlreadyExists:
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	}
	return err
}

func (c cloud) open(ctx context.Context, key string) (io.ReadCloser, error) {
	return patiently(ctx, func(ctx context.Context) (io.ReadCloser, error) {
		r, err := c.NewReader(ctx, key, nil)
		if err != nil {
			return nil, known(err)
		}
		return r, nil
	})
}

func (c cloud) write(ctx context.Context, key string, from io.Reader, isNew bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// With a content type, the client does not guess one.
	w, err := c.NewWriter(ctx, key, &blob.WriterOptions{IfNotExist: isNew, ContentType: "application/octet-stream"})
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, from); err != nil {
		cancel() // before Close: nothing is written
		_ = w.Close()
		return err
	}
	return known(w.Close())
}

func (c cloud) changed(ctx context.Context, key string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a, err := c.Attributes(ctx, key)
	if err != nil {
		return time.Time{}, known(err)
	}
	return a.ModTime, nil
}

func (c cloud) delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return known(c.Delete(ctx, key))
}

func (c cloud) list(ctx context.Context, prefix string) (found []object, err error) {
	err = c.each(ctx, &blob.ListOptions{Prefix: prefix}, func(o *blob.ListObject) {
		found = append(found, object{o.Key, o.Size, o.ModTime})
	})
	return found, err
}

func (c cloud) folders(ctx context.Context) (names []string, err error) {
	err = c.each(ctx, &blob.ListOptions{Delimiter: "/"}, func(o *blob.ListObject) {
		if o.IsDir {
			names = append(names, strings.TrimSuffix(o.Key, "/"))
		}
	})
	return names, err
}

// each calls do for each entry of a listing.
func (c cloud) each(ctx context.Context, options *blob.ListOptions, do func(*blob.ListObject)) error {
	for it := c.List(options); ; {
		o, err := next(ctx, it)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		do(o)
	}
}

// next waits for a page of the listing, if one is due.
func next(ctx context.Context, it *blob.ListIterator) (*blob.ListObject, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return it.Next(ctx)
}

func (c cloud) close() error { return c.Close() }
