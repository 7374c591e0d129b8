package mirror

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/sparse"
)

// atATime is how many files are fetched at a time.
const atATime = 8

// Fetch fills a working directory from the store. The directory must not exist, or hold no experiment.
// The experiment file comes last: a directory without it holds no experiment.
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
		if skipped(path.Dir(key)) { // earlier versions copied some that were still being made
			continue
		}
		g.Go(func() error { return s.fetchManifest(inner, d, key) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return s.fetchExperiment(ctx, d)
}

// FetchCheckpoint fetches a checkpoint, unless it was fetched before; part is its path in the experiment's directory.
func FetchCheckpoint(ctx context.Context, s *Store, d storage.Dir, part string) error {
	text, err := s.get(ctx, path.Join(part, manifestName))
	if errors.Is(err, ErrNone) {
		return fmt.Errorf("%w: the checkpoint was deleted, or its host was lost before it was copied", err)
	}
	if err != nil {
		return err
	}
	dir := filepath.Join(d.Path(), filepath.FromSlash(part))
	if here, err := storage.ManifestText(dir); err == nil && bytes.Equal(here, text) {
		if _, err := storage.CheckCheckpoint(dir, true); err == nil {
			return nil
		}
	}
	err = nolink.RemoveAll(dir)
	if err == nil {
		err = s.fetchManifest(ctx, d, path.Join(part, manifestName))
	}
	if err == nil {
		_, err = storage.CheckCheckpoint(dir, true)
	}
	return err
}

// FetchRecord is Fetch without checkpoints, for readers.
func FetchRecord(ctx context.Context, s *Store, d storage.Dir) error {
	if err := fetchRecord(ctx, s, d); err != nil {
		return err
	}
	return s.fetchExperiment(ctx, d)
}

func (s *Store) fetchExperiment(ctx context.Context, d storage.Dir) error {
	err := s.fetchFile(ctx, experimentFile, d.Experiment())
	if errors.Is(err, ErrNone) {
		return s.none(ctx)
	}
	return err
}

// Record changes with the record in the store: it has the names and sizes of its pieces.
func (s *Store) Record(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, prefix := range []string{journalPrefix, "run.json"} {
		list, err := s.list(ctx, prefix)
		if err != nil {
			return "", err
		}
		for _, o := range list {
			fmt.Fprintln(&b, o.key, o.size)
		}
	}
	return b.String(), nil
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

// relisted is how often the record is listed again because a piece is not there, and relistedAfter how long each waits:
// a piece that disappears has become part of a larger one, and a listing that was made meanwhile may lack some.
const (
	relisted      = 3
	relistedAfter = 100 * time.Millisecond
)

// fetchJournal joins the pieces of the record.
func (s *Store) fetchJournal(ctx context.Context, d storage.Dir) error {
	if err := nolink.MkdirAll(d.Journal(), 0o700); err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		err := s.fetchSegments(ctx, d)
		_, gap := errors.AsType[*GapError](err)
		if !gap && !errors.Is(err, ErrNone) || tries == relisted || !wait(ctx, relistedAfter) {
			return err
		}
	}
}

func (s *Store) fetchSegments(ctx context.Context, d storage.Dir) error {
	found, err := s.pieces(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		pieces, end, all := contiguous(found[name])
		if !all {
			return &GapError{Join(s.url, pieceKey(name, end)), end}
		}
		if err := s.fetchSegment(ctx, filepath.Join(d.Journal(), name), pieces, end); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) fetchSegment(ctx context.Context, to string, pieces []object, end int64) error {
	var all []byte
	var changed time.Time
	for _, p := range pieces {
		b, err := s.get(ctx, p.key)
		if err != nil {
			return err
		}
		all = append(all, b...)
		if p.changed.After(changed) {
			changed = p.changed
		}
	}
	if err := storage.WriteFile(to, all[:min(int64(len(all)), end)]); err != nil || changed.IsZero() {
		return err
	}
	return os.Chtimes(to, changed, changed) // lists say when something was recorded last
}

// fetchManifest fetches a checkpoint. It skips files that are damaged or missing in the store, which [Store.Lacks] then
// names: the checkpoint is found damaged when it is needed, and an earlier one is used.
func (s *Store) fetchManifest(ctx context.Context, d storage.Dir, key string) error {
	text, err := s.get(ctx, key)
	if errors.Is(err, ErrNone) {
		return nil // deleted in the meantime
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
		err := s.fetchBlob(ctx, storage.FilesOf(dir), &m, f, func() {})
		if errors.Is(err, ErrNone) {
			s.lack(path.Dir(key), err)
		} else if err != nil {
			return err
		}
	}
	if err := nolink.MkdirAll(storage.FilesOf(dir), 0o700); err != nil {
		return err
	}
	return storage.WriteFile(filepath.Join(dir, manifestName), text)
}

// fetchBlob fetches a file into a folder. It returns [ErrNone] if the store does not have it, or another one.
func (s *Store) fetchBlob(ctx context.Context, folder string, m *storage.Manifest, f storage.File, moved func()) error {
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) || len(f.SHA256) != 2*sha256.Size {
		return fmt.Errorf("%s: a manifest names the file %q (%s)", s.url, f.Path, f.SHA256)
	}
	r, err := s.bucket.open(ctx, keyOf(m, f))
	if errors.Is(err, fs.ErrNotExist) {
		return &blobError{s.blobURL(m, f), f.Path, "is gone"}
	}
	if err != nil {
		return s.explain(err)
	}
	defer r.Close()
	to := filepath.Join(folder, filepath.FromSlash(f.Path))
	if err := nolink.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := nolink.Create(to, 0o600)
	if err != nil {
		return err
	}
	sum, holed := sha256.New(), sparse.NewWriter(out)
	_, err = io.Copy(io.MultiWriter(holed, sum, moving(moved)), r)
	if err = errors.Join(err, holed.End(), out.Sync(), out.Close()); err != nil {
		return s.explain(err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return cmp.Or(nolink.Remove(to), error(&blobError{s.blobURL(m, f), f.Path, "is not what was saved"}))
	}
	return nolink.Chmod(to, 0o400)
}

// moving calls a function with each write.
type moving func()

func (m moving) Write(p []byte) (int, error) {
	m()
	return len(p), nil
}
