package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Store is the place of one experiment in a bucket or a shared directory.
type Store struct {
	bucket *blob.Bucket
	url    string
}

// IsURL reports whether a storage is a URL, not a directory.
func IsURL(storage string) bool { return strings.Contains(storage, "://") }

// Join returns the URL of an experiment in a storage.
func Join(storage, name string) string {
	u, err := url.Parse(storage)
	if err != nil {
		return storage
	}
	u.Path = path.Join("/", u.Path, name)
	return u.String()
}

// Split is the reverse of Join.
func Split(experiment string) (storage, name string, err error) {
	u, err := url.Parse(experiment)
	if err != nil {
		return "", "", err
	}
	name = path.Base(u.Path)
	if name == "/" || name == "." {
		return "", "", fmt.Errorf("%s: it names no experiment; write %s/NAME", experiment,
			strings.TrimSuffix(experiment, "/"))
	}
	u.Path = path.Dir(u.Path)
	return u.String(), name, nil
}

// OpenToRead is Open for readers: it does not make a missing directory, but returns [ErrNone].
func OpenToRead(ctx context.Context, experiment string) (*Store, error) {
	if dir, ok := Directory(experiment); ok {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", experiment, ErrNone)
		}
	}
	return Open(ctx, experiment)
}

// Directory returns the path of a storage that is a directory (file://…).
func Directory(storage string) (path string, ok bool) {
	u, err := url.Parse(storage)
	if err != nil || u.Scheme != "file" || u.Host != "" {
		return "", false
	}
	return u.Path, true
}

// Open opens the store of an experiment, named by its URL. The store's client takes its credentials
// from the environment and its own files.
func Open(ctx context.Context, experiment string) (*Store, error) {
	bucket, prefix, err := bucketOf(experiment)
	if err != nil {
		return nil, err
	}
	if err := needsClient(experiment); err != nil {
		return nil, err
	}
	b, err := blob.OpenBucket(ctx, bucket)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", experiment, err)
	}
	if prefix != "" {
		b = blob.PrefixedBucket(b, prefix+"/")
	}
	return &Store{bucket: b, url: experiment}, nil
}

// bucketOf returns the URL of the bucket in the form that its client expects, and the prefix of the
// names in it.
func bucketOf(experiment string) (bucket, prefix string, err error) {
	u, err := url.Parse(experiment)
	if err != nil {
		return "", "", err
	}
	if u.User != nil {
		return "", "", fmt.Errorf("%s: a storage URL must not contain a user or password, since it is written "+
			"to files; "+
			"put them where the store's own tools look for them", u.Redacted())
	}
	if u.Scheme == "file" && u.Host != "" { // its client would ignore the host
		return "", "", fmt.Errorf("%s: expected a whole path after file://, such as file:///mnt/results", experiment)
	}
	if u.Scheme != "file" {
		prefix = strings.Trim(u.Path, "/")
		u.Path = ""
		return u.String(), prefix, nil
	}
	q := u.Query()
	for k, v := range map[string]string{"create_dir": "true", "no_tmp_dir": "true", "metadata": "skip",
		"dir_file_mode": "0700"} {
		q.Set(k, v)
	}
	u.RawQuery = q.Encode()
	return u.String(), "", nil
}

// URL returns the URL of the experiment.
func (s *Store) URL() string { return s.url }

// Close closes the store.
func (s *Store) Close() error { return s.bucket.Close() }

// Exists reports whether the store holds an experiment.
func (s *Store) Exists(ctx context.Context) (bool, error) {
	ok, err := s.bucket.Exists(ctx, experimentFile)
	return ok, s.explain(err)
}

// ErrNone says that the store has nothing under a name.
var ErrNone = errors.New("it is not there")

func (s *Store) get(ctx context.Context, key string) ([]byte, error) {
	b, err := s.bucket.ReadAll(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, ErrNone
	}
	return b, s.explain(err)
}

func (s *Store) put(ctx context.Context, key string, content []byte) error {
	return s.write(ctx, key, bytes.NewReader(content), nil)
}

// putNew writes a new object; it returns false if the object exists.
func (s *Store) putNew(ctx context.Context, key string, content []byte) (bool, error) {
	err := s.write(ctx, key, bytes.NewReader(content), &blob.WriterOptions{IfNotExist: true})
	if c := gcerrors.Code(err); c == gcerrors.FailedPrecondition || c == gcerrors.AlreadyExists {
		return false, nil
	}
	return err == nil, err
}

// putPart writes a piece of a file.
func (s *Store) putPart(ctx context.Context, key, file string, from, to int64) error {
	f, err := nolink.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.write(ctx, key, io.NewSectionReader(f, from, to-from), nil)
}

// write writes an object completely or not at all.
func (s *Store) write(ctx context.Context, key string, from io.Reader, o *blob.WriterOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := s.bucket.NewWriter(ctx, key, withType(o))
	if err != nil {
		return s.explain(err)
	}
	if _, err := io.Copy(w, from); err != nil {
		cancel() // before Close: nothing is written
		_ = w.Close()
		return s.explain(err)
	}
	return s.explain(w.Close())
}

// withType sets a content type, so that the client does not guess it.
func withType(o *blob.WriterOptions) *blob.WriterOptions {
	if o == nil {
		o = &blob.WriterOptions{}
	}
	o.ContentType = "application/octet-stream"
	return o
}

func (s *Store) delete(ctx context.Context, key string) error {
	err := s.bucket.Delete(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return s.explain(err)
}

// object is an entry of a listing.
type object struct {
	key  string
	size int64
}

// list returns the objects whose keys begin with prefix, in the order of the keys.
func (s *Store) list(ctx context.Context, prefix string) (found []object, err error) {
	for it := s.bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
		o, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, s.explain(err)
		}
		found = append(found, object{o.Key, o.Size})
	}
}

func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	return &shortError{s.url + ": " + inShort(err), err}
}

// Experiments returns the URLs of the experiments in a storage; of one experiment its own.
func Experiments(ctx context.Context, url string) (urls []string, err error) {
	s, err := OpenToRead(ctx, url)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if one, err := s.bucket.Exists(ctx, experimentFile); err != nil || one {
		return []string{url}, s.explain(err)
	}
	names, err := Names(ctx, url)
	for _, name := range names {
		urls = append(urls, Join(url, name))
	}
	return urls, err
}

// Names returns the names of the experiments in a storage.
func Names(ctx context.Context, storage string) (names []string, err error) {
	s, err := OpenToRead(ctx, storage)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for it := s.bucket.List(&blob.ListOptions{Delimiter: "/"}); ; {
		o, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, s.explain(err)
		}
		if !o.IsDir {
			continue
		}
		ok, err := s.bucket.Exists(ctx, o.Key+experimentFile)
		if err != nil {
			return nil, s.explain(err)
		}
		if ok {
			names = append(names, path.Base(o.Key))
		}
	}
}
