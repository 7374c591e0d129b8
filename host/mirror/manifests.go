package mirror

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/storage"
)

// key is that of what is in a directory of the experiment.
func (m *Mirror) key(dir string) string {
	rel, err := filepath.Rel(m.dir.Path(), dir)
	if err != nil {
		panic(err) // both are absolute
	}
	return path.Join(filepath.ToSlash(rel), manifestName)
}

func blobKey(sum string) string { return blobPrefix + sum }

// pushManifest copies a checkpoint: its files, then its manifest. One that is gone
// meanwhile, or was damaged, is left out: who reads the record finds it missing,
// and takes the one before.
func (m *Mirror) pushManifest(ctx context.Context, dir string) error {
	x, err := storage.CheckCheckpoint(dir, false)
	var damaged *storage.DamagedError
	if errors.As(err, &damaged) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := storage.ManifestText(dir)
	if err != nil {
		return err
	}
	key := m.key(dir)
	if err := m.removeManifest(ctx, key); err != nil { // an export that was made again
		return err
	}
	if err := m.pushBlobs(ctx, dir, x.Files); err != nil {
		return err
	}
	if err := m.store.put(ctx, key, text); err != nil {
		return err
	}
	m.count(key, x.Files)
	return nil
}

// pushBlobs copies the files that the store has not.
func (m *Mirror) pushBlobs(ctx context.Context, dir string, files []storage.File) error {
	for _, f := range files {
		if _, there := m.blobs[f.SHA256]; there {
			continue
		}
		if err := m.store.putPart(ctx, blobKey(f.SHA256), storage.FileIn(dir, f.Path), 0, f.Bytes); err != nil {
			return err
		}
		m.blobs[f.SHA256] = 0
	}
	return nil
}

func (m *Mirror) count(key string, files []storage.File) {
	for _, f := range files {
		m.blobs[f.SHA256]++
		m.manifests[key] = append(m.manifests[key], f.SHA256)
	}
}

// removeManifest removes a checkpoint from the store: its manifest, then the files
// that no other has.
func (m *Mirror) removeManifest(ctx context.Context, key string) error {
	sums, ok := m.manifests[key]
	if !ok {
		return nil
	}
	if err := m.store.delete(ctx, key); err != nil {
		return err
	}
	delete(m.manifests, key)
	for _, sum := range sums {
		m.blobs[sum]--
	}
	return m.dropBlobs(ctx, sums)
}

func (m *Mirror) dropBlobs(ctx context.Context, sums []string) error {
	for _, sum := range sums {
		if n, known := m.blobs[sum]; n > 0 || !known {
			continue
		}
		delete(m.blobs, sum)
		if err := m.store.delete(ctx, blobKey(sum)); err != nil {
			return err
		}
	}
	return nil
}

// recallManifests compares what the store has of checkpoints with what is here. What
// is missing there is copied in the first round; what is not here any more goes from
// the store after it, when the record there has its deletion.
func (m *Mirror) recallManifests(ctx context.Context) error {
	here, err := manifestsIn(m.dir)
	if err != nil {
		return err
	}
	there, err := m.store.manifests(ctx)
	if err != nil {
		return err
	}
	stored, err := m.store.list(ctx, blobPrefix)
	if err != nil {
		return err
	}
	for _, o := range stored {
		m.blobs[path.Base(o.key)] = 0
	}
	for _, key := range there {
		dir, ok := here[key]
		if ok && m.recallManifest(key, dir) {
			delete(here, key)
		} else if !ok {
			m.manifests[key] = nil
			m.deleted = append(m.deleted, deletion{filepath.Join(m.dir.Path(), filepath.FromSlash(path.Dir(key))), func() {}})
		}
	}
	for _, dir := range here {
		m.saved = append(m.saved, dir)
	}
	return nil
}

// recallManifest counts a checkpoint that the store has whole.
func (m *Mirror) recallManifest(key, dir string) bool {
	x, err := storage.ReadManifest(dir)
	if err != nil {
		return false
	}
	for _, f := range x.Files {
		if _, there := m.blobs[f.SHA256]; !there {
			return false
		}
	}
	m.count(key, x.Files)
	return true
}

// sweep removes, once, files that no checkpoint has.
func (m *Mirror) sweep(ctx context.Context) error {
	if m.swept {
		return nil
	}
	if err := m.dropBlobs(ctx, slices.Collect(maps.Keys(m.blobs))); err != nil {
		return err
	}
	m.swept = true
	return nil
}

// manifests are the keys of all that the store has.
func (s *Store) manifests(ctx context.Context) (keys []string, err error) {
	for _, prefix := range []string{"trials/", "start/"} {
		list, err := s.list(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if path.Base(o.key) == manifestName {
				keys = append(keys, o.key)
			}
		}
	}
	return keys, nil
}

// manifestsIn are the checkpoints and exports of a directory, by key.
func manifestsIn(d storage.Dir) (map[string]string, error) {
	m := Mirror{dir: d}
	found := map[string]string{}
	for _, root := range []string{d.Trials(), d.Start()} {
		err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case e.IsDir() && storage.NoCheckpoint(e.Name()):
				return fs.SkipDir
			case !e.IsDir() && e.Name() == manifestName && inLayout(d, p):
				found[m.key(filepath.Dir(p))] = filepath.Dir(p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// inLayout: a program may have files of this name, too.
func inLayout(d storage.Dir, p string) bool {
	rel, err := filepath.Rel(d.Path(), p)
	if err != nil {
		return false
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	switch {
	case len(parts) == 4 && parts[0] == "start":
		return true
	case len(parts) == 5 && parts[0] == "trials":
		return parts[2] == "checkpoints" || parts[2] == "export"
	}
	return false
}
