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
	"time"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/internal/lazily"
)

// key returns the key of a directory's manifest.
func (m *Mirror) key(dir string) string {
	rel, err := filepath.Rel(m.dir.Path(), dir)
	if err != nil {
		panic(err) // both are absolute
	}
	return path.Join(filepath.ToSlash(rel), manifestName)
}

func blobKey(sum string) string { return blobPrefix + sum }

// keyOf returns the key of a file: in the folder of the node that has written it, or among the blobs.
func keyOf(m *storage.Manifest, f storage.File) string {
	if m.Stored != "" {
		return path.Join(m.Stored, f.SHA256)
	}
	return blobKey(f.SHA256)
}

// pushManifest copies a checkpoint: its files, then its manifest. It skips a checkpoint that is gone
// or damaged: readers of the record find it missing and use an earlier one.
func (m *Mirror) pushManifest(ctx context.Context, dir string) error {
	x, err := storage.CheckCheckpoint(dir, false)
	if _, ok := errors.AsType[*storage.DamagedError](err); ok {
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
	if err := m.removeManifest(ctx, key); err != nil { // an export that was repeated
		return err
	}
	err = m.pushBlobs(ctx, dir, &x)
	if lost, ok := errors.AsType[*blobError](err); ok {
		m.store.lack(path.Dir(key), lost)
		return m.store.delete(ctx, key)
	}
	if err != nil {
		return err
	}
	if err := m.store.put(ctx, key, text); err != nil {
		return err
	}
	m.count(key, &x)
	return nil
}

// pushBlobs copies the files that the store lacks. Those that a node has written are there, unless what was in the
// store has vanished. Then it returns a [*blobError] if they were there alone.
func (m *Mirror) pushBlobs(ctx context.Context, dir string, x *storage.Manifest) error {
	var written map[string]int64
	if x.Stored != "" {
		var err error
		if written, err = m.store.sizes(ctx, x.Stored); err != nil {
			return err
		}
	}
	for _, f := range x.Files {
		key := keyOf(x, f)
		_, there := m.blobs[key]
		if size, ok := written[key]; there || ok && size == f.Bytes {
			continue
		}
		if x.Away(dir) {
			return &blobError{m.store.blobURL(x, f), f.Path, "is gone"}
		}
		if err := m.store.putPart(ctx, key, storage.FileIn(dir, f.Path), 0, f.Bytes); err != nil {
			return err
		}
		m.blobs[key] = 0
	}
	return nil
}

func (m *Mirror) count(key string, x *storage.Manifest) {
	for _, f := range x.Files {
		blob := keyOf(x, f)
		m.blobs[blob]++
		m.manifests[key] = append(m.manifests[key], blob)
	}
}

// removeManifest removes a checkpoint from the store: its manifest, then the files that no other
// checkpoint has.
func (m *Mirror) removeManifest(ctx context.Context, key string) error {
	blobs, ok := m.manifests[key]
	if !ok {
		return nil
	}
	if err := m.store.delete(ctx, key); err != nil {
		return err
	}
	delete(m.manifests, key)
	for _, blob := range blobs {
		m.blobs[blob]--
	}
	return m.dropBlobs(ctx, blobs)
}

func (m *Mirror) dropBlobs(ctx context.Context, keys []string) error {
	for _, key := range keys {
		if n, known := m.blobs[key]; n > 0 || !known {
			continue
		}
		delete(m.blobs, key)
		if err := m.store.delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// recallManifests compares the checkpoints in the store with the local ones. Those that the store
// lacks are copied in the first round; those that are gone locally are deleted from the store after
// it, when the record there has their deletion.
func (m *Mirror) recallManifests(ctx context.Context) error {
	here, err := manifestsIn(m.dir)
	if err != nil {
		return err
	}
	there, err := m.store.manifests(ctx)
	if err != nil {
		return err
	}
	if err := m.recallBlobs(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range there {
		dir, ok := here[key]
		if ok && m.recallManifest(key, dir) {
			delete(here, key)
		} else if !ok {
			m.manifests[key] = nil
			m.deleted = append(m.deleted, deletion{filepath.Join(m.dir.Path(), filepath.FromSlash(path.Dir(key))),
				func() {}})
		}
	}
	for _, dir := range m.saved { // they wait already
		delete(here, m.key(dir))
	}
	m.saved = slices.AppendSeq(m.saved, maps.Values(here))
	return nil
}

// written are the names of objects that hosts and nodes write. Others are somebody else's.
var written = lazily.Regexp(
	`^(blobs/[0-9a-f]{64}|nodes/[A-Z2-7]{26}/(mark-[A-Z2-7]{26}|.+/\d{6,}-\d+-\d+/[0-9a-f]{64}))$`)

// recallBlobs looks at which files the store has. What nodes write for this host is not among them: nobody else
// deletes it ([Nodes.Drop]), since it is no checkpoint yet.
func (m *Mirror) recallBlobs(ctx context.Context) error {
	for _, prefix := range []string{blobPrefix, nodesPrefix} {
		stored, err := m.store.list(ctx, prefix)
		if err != nil {
			return err
		}
		for _, o := range stored {
			if written().MatchString(o.key) && !strings.HasPrefix(o.key, m.Nodes.prefix()) {
				m.blobs[o.key] = 0
			}
		}
	}
	return nil
}

// recallManifest registers a checkpoint that is complete in the store.
func (m *Mirror) recallManifest(key, dir string) bool {
	x, err := storage.ReadManifest(dir)
	if err != nil {
		return false
	}
	for _, f := range x.Files {
		if _, there := m.blobs[keyOf(&x, f)]; !there {
			return false
		}
	}
	m.count(key, &x)
	return true
}

// longestWrite is how long the writing of one file may take.
const longestWrite = 24 * time.Hour

// sweep removes, once, files that no checkpoint has.
func (m *Mirror) sweep(ctx context.Context) error {
	if m.swept {
		return nil
	}
	if d, ok := m.store.bucket.(directory); ok {
		d.tidy(ctx, time.Now().Add(-longestWrite))
	}
	if err := m.dropBlobs(ctx, slices.Collect(maps.Keys(m.blobs))); err != nil {
		return err
	}
	m.swept = true
	return nil
}

// manifests returns the keys of all manifests in the store.
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

// manifestsIn returns the checkpoints and exports of a directory, by key.
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
			case e.IsDir() && skipped(p):
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

// skipped reports that a folder holds nothing to copy. Names of formats contain no dot, but are
// otherwise arbitrary.
func skipped(dir string) bool {
	name := filepath.Base(dir)
	if filepath.Base(filepath.Dir(dir)) == "export" {
		return strings.Contains(name, ".")
	}
	return storage.NoCheckpoint(name)
}

// inLayout reports whether a manifest has its place in the layout; a program may have files of this
// name, too.
func inLayout(d storage.Dir, p string) bool {
	rel, err := filepath.Rel(d.Path(), p)
	if err != nil {
		return false
	}
	return isPlace(strings.Split(filepath.ToSlash(rel), "/"))
}

// isPlace reports whether a path is one of a manifest.
func isPlace(parts []string) bool {
	switch {
	case len(parts) == 4 && parts[0] == "start":
		return true
	case len(parts) == 5 && parts[0] == "trials":
		return parts[2] == "checkpoints" || parts[2] == "export"
	}
	return false
}
