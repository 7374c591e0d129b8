package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"

	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// atATime is how many files are fetched at a time.
const atATime = 8

// Fetch makes a working directory of what the store has. The directory must not
// exist, or hold no experiment. The experiment's file comes last: without it, what
// is there is no experiment.
func Fetch(ctx context.Context, s *Store, d storage.Dir) error {
	if err := fetchRecord(ctx, s, d); err != nil {
		return err
	}
	keys, err := s.manifests(ctx)
	if err != nil {
		return err
	}
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for _, key := range keys {
		g.Go(func() error { return s.fetchManifest(inner, d, key) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return s.fetchFile(ctx, experimentFile, d.Experiment())
}

// FetchRecord is Fetch for those who only read: without checkpoints.
func FetchRecord(ctx context.Context, s *Store, d storage.Dir) error {
	if err := fetchRecord(ctx, s, d); err != nil {
		return err
	}
	return s.fetchFile(ctx, experimentFile, d.Experiment())
}

func fetchRecord(ctx context.Context, s *Store, d storage.Dir) error {
	if err := d.Create(); err != nil {
		return err
	}
	for _, name := range smallFiles {
		if err := s.fetchFile(ctx, name, filepath.Join(d.Path(), name)); err != nil && !errors.Is(err, ErrNone) {
			return err
		}
	}
	return s.fetchJournal(ctx, d)
}

func (s *Store) fetchFile(ctx context.Context, key, to string) error {
	text, err := s.get(ctx, key)
	if err != nil {
		return err
	}
	return storage.WriteFile(to, text)
}

// fetchJournal puts the pieces of the record together. One that is taken away
// meanwhile was made part of a larger one: then all is looked at again.
func (s *Store) fetchJournal(ctx context.Context, d storage.Dir) error {
	if err := nolink.MkdirAll(d.Journal(), 0o700); err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		found, err := s.pieces(ctx)
		if err != nil {
			return err
		}
		for name, list := range found {
			pieces, end := contiguous(list)
			if err = s.fetchSegment(ctx, filepath.Join(d.Journal(), path.Base(name)), pieces, end); err != nil {
				break
			}
		}
		if !errors.Is(err, ErrNone) || tries == 3 {
			return err
		}
	}
}

func (s *Store) fetchSegment(ctx context.Context, to string, pieces []object, end int64) error {
	var all []byte
	for _, p := range pieces {
		b, err := s.get(ctx, p.key)
		if err != nil {
			return err
		}
		all = append(all, b...)
	}
	return storage.WriteFile(to, all[:min(int64(len(all)), end)])
}

// fetchManifest fetches a checkpoint. A file that is damaged or gone in the store is
// left out: the checkpoint is found damaged when it is needed, and the one before is
// used.
func (s *Store) fetchManifest(ctx context.Context, d storage.Dir, key string) error {
	text, err := s.get(ctx, key)
	if errors.Is(err, ErrNone) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	rel := filepath.FromSlash(path.Dir(key))
	var m storage.Manifest
	if err := json.Unmarshal(text, &m); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s: %s is not a manifest", s.url, key)
	}
	dir := filepath.Join(d.Path(), rel)
	for _, f := range m.Files {
		if err := s.fetchBlob(ctx, dir, f); err != nil {
			return err
		}
	}
	if err := nolink.MkdirAll(filepath.Join(dir, "files"), 0o700); err != nil {
		return err
	}
	return storage.WriteFile(filepath.Join(dir, manifestName), text)
}

func (s *Store) fetchBlob(ctx context.Context, dir string, f storage.File) error {
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) || len(f.SHA256) != 2*sha256.Size {
		return fmt.Errorf("%s: a manifest names the file %q (%s)", s.url, f.Path, f.SHA256)
	}
	r, err := s.bucket.NewReader(ctx, blobKey(f.SHA256), nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	if err != nil {
		return s.explain(err)
	}
	defer r.Close()
	to := storage.FileIn(dir, f.Path)
	if err := nolink.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := nolink.Create(to, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), r)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return s.explain(err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return nolink.Remove(to)
	}
	return nolink.Chmod(to, 0o400)
}
