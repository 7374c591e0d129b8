package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sync/errgroup"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Seen is a store as a node sees it, with the credentials of the node's own environment.
type Seen struct{ s *Store }

// maxMark is more than the text of a mark.
const maxMark = 1 << 10

// OpenSeen opens the store of an experiment on a node. It makes nothing there.
func OpenSeen(ctx context.Context, url string) (Seen, error) {
	withMetadata(ctx, url)
	s, err := OpenToRead(ctx, url)
	return Seen{s}, err
}

// Close closes the store.
func (x Seen) Close() error { return x.s.Close() }

// Mark returns the text of a mark of the host's ([Nodes.Mark]).
func (x Seen) Mark(ctx context.Context, key string) (string, error) {
	r, err := x.s.bucket.open(ctx, key)
	if err != nil {
		return "", x.s.explain(err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxMark))
	return string(text), x.s.explain(errors.Join(err, r.Close()))
}

// Save writes the files below from into a folder of the store, each under its SHA-256, and lists them. Files that
// an interrupted call has written are not written again. moved is called when the files are listed, and then as data
// moves.
func (x Seen) Save(ctx context.Context, folder, from string, moved func()) ([]storage.File, error) {
	files, err := storage.ListFiles(from)
	if err != nil {
		return nil, err
	}
	root, err := nolink.OpenRoot(from)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	moved()
	had, err := x.s.sizes(ctx, folder)
	if err != nil {
		return nil, err
	}
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for _, f := range files {
		key := path.Join(folder, f.SHA256)
		if size, ok := had[key]; ok && size == f.Bytes {
			continue
		}
		had[key] = f.Bytes // another file may have the same content
		g.Go(func() error { return x.s.save(inner, root, key, f, moved) })
	}
	return files, g.Wait()
}

// save writes one file. If its content is no longer what was listed, nothing is written.
func (s *Store) save(ctx context.Context, root *os.Root, key string, f storage.File, moved func()) error {
	in, err := f.Open(root)
	if err != nil {
		return err
	}
	defer in.Close()
	return s.write(ctx, key, &watched{in: in, sum: sha256.New(), want: f, moved: moved})
}

// watched is a reader that fails if the content is not what was expected.
type watched struct {
	in    io.Reader
	sum   hash.Hash
	want  storage.File
	moved func() // called as data moves
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	w.sum.Write(p[:n]) // a hash returns no error
	w.moved()
	if err == io.EOF && hex.EncodeToString(w.sum.Sum(nil)) != w.want.SHA256 {
		err = fmt.Errorf("%s has changed while it was copied", w.want.Path)
	}
	return n, err
}

// Load fetches the files of a manifest into an empty folder. If the store lacks one, the error is [ErrNone]. moved is
// called as data moves.
func (x Seen) Load(ctx context.Context, m storage.Manifest, folder string, moved func()) error {
	return x.s.load(ctx, m, folder, moved)
}

func (s *Store) load(ctx context.Context, m storage.Manifest, folder string, moved func()) error {
	moved()
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for _, f := range m.Files {
		if !fs.ValidPath(f.Path) {
			return fmt.Errorf("%q cannot be the path of a file in a checkpoint", f.Path)
		}
		g.Go(func() error { return s.fetchBlob(inner, folder, &m, f, moved) })
	}
	return g.Wait()
}
