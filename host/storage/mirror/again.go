package mirror

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A running host looks before each round whether its marks are still in the store: the lease as it was renewed last,
// and the experiment's file. If not, so may be anything else: a share is not mounted, a folder was moved, objects were
// deleted, or an older state of them was put back. Then nothing is added to the record there, which would have a hole.
// The host looks anew at what the store has, and copies all that it lacks from its own directory, which is whole.

// vanishedError says that a store no longer has what this host has copied there.
type vanishedError struct {
	url   string
	none  bool  // the lease is gone, not older
	where error // the shared directory is gone, or another folder is in its place, and nothing is made there
}

func (e *vanishedError) Error() string {
	if e.where != nil {
		return e.url + ": " + e.where.Error()
	}
	return e.url + " has lost what was copied there, or has an older state of it; all that it lacks is copied again"
}

func hasVanished(err error) bool {
	_, is := errors.AsType[*vanishedError](err)
	return is
}

// vanished makes the error; none says that there is nothing in the store.
func (s *Store) vanished(none bool) error {
	e := &vanishedError{url: s.url, none: none}
	if none {
		e.where = s.elsewhere()
	}
	return e
}

// place is a shared directory, and the folder that it is in, as they were when it was opened.
type place struct{ itself, around fs.FileInfo }

func placeOf(b bucket) (p place) {
	if d, ok := b.(directory); ok {
		p.itself, _ = os.Stat(string(d)) // without it, the place is another one
		p.around, _ = os.Stat(filepath.Dir(string(d)))
	}
	return p
}

// elsewhere returns an error if a shared directory without a lease is not the one that was opened, or is gone together
// with the folder around it: below the place where a file system is mounted, nothing is written while it is not.
func (s *Store) elsewhere() error {
	d, ok := s.bucket.(directory)
	if !ok {
		return nil
	}
	was := s.opened.itself
	now, err := os.Stat(string(d))
	if errors.Is(err, fs.ErrNotExist) { // it was removed, if the folder around it is the same
		was = s.opened.around
		now, err = os.Stat(filepath.Dir(string(d)))
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && (was == nil || !os.SameFile(now, was)) {
		return d.gone()
	}
	return err
}

// remake makes a shared directory anew that was removed.
func (s *Store) remake() error {
	d, ok := s.bucket.(directory)
	if !ok {
		return nil
	}
	err := os.Mkdir(string(d), 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		s.opened.itself, err = os.Stat(string(d))
	}
	return err
}

// look finds out whether the store has what this host has copied there. Once it had not, all is copied again.
func (m *Mirror) look(ctx context.Context) error {
	if m.lease.Replaced() {
		return m.again(ctx)
	}
	err := m.lease.look(ctx)
	if err != nil || !m.announced {
		return err
	}
	there, err := m.store.Exists(ctx)
	if err == nil && !there {
		err = m.vanished()
	}
	return err
}

func (m *Mirror) vanished() error {
	m.lease.setReplaced(true)
	return m.store.vanished(false)
}

// again looks anew at what the store has. The next round copies what it lacks.
func (m *Mirror) again(ctx context.Context) error {
	if err := m.lease.retake(ctx); err != nil {
		return err
	}
	if err := m.ours(ctx); err != nil {
		return err
	}
	m.pushed, m.small, m.announced = map[string]*segment{}, map[string]time.Time{}, false
	m.manifests, m.blobs = map[string][]string{}, map[string]int{}
	err := m.recall(ctx)
	if err == nil {
		m.lease.setReplaced(false)
	}
	return err
}

// ours refuses a store with another experiment, or with events that are not here: another host has added them.
func (m *Mirror) ours(ctx context.Context) error {
	same, err := m.store.Same(ctx, m.dir.Path())
	if err == nil && same {
		same, err = m.store.Precedes(ctx, m.dir)
	}
	if err == nil && !same {
		err = &othersError{m.store.url, m.dir.Path()}
	}
	return err
}

// othersError says that something else was put in the place of what this host has copied.
type othersError struct{ url, dir string }

func (e *othersError) Error() string {
	return e.url + " has another record than " + e.dir + ": move it away, and all of this one is copied there again"
}

// verify finds out at the end whether all that was copied is there.
func (m *Mirror) verify(ctx context.Context) error {
	m.rounding.Lock()
	defer m.rounding.Unlock()
	whole, err := m.hasRecord(ctx)
	if err == nil && whole {
		whole, err = m.hasObjects(ctx)
	}
	if err == nil && !whole {
		err = m.vanished()
	}
	return err
}

func (m *Mirror) hasRecord(ctx context.Context) (bool, error) {
	found, err := m.store.pieces(ctx)
	if err != nil {
		return false, err
	}
	for name, s := range m.pushed {
		if _, end, all := contiguous(found[name]); !all || end != s.end {
			return false, nil
		}
	}
	return m.store.Exists(ctx)
}

// hasObjects compares the small files and the checkpoints.
func (m *Mirror) hasObjects(ctx context.Context) (bool, error) {
	for name := range m.small {
		if there, err := m.store.has(ctx, name); err != nil || !there {
			return false, err
		}
	}
	there := map[string]bool{}
	for _, prefix := range []string{"trials/", "start/", blobPrefix, nodesPrefix} {
		list, err := m.store.list(ctx, prefix)
		if err != nil {
			return false, err
		}
		for _, o := range list {
			there[o.key] = true
		}
	}
	lacks := func(key string) bool { return !there[key] }
	for key, blobs := range m.manifests {
		if lacks(key) || slices.ContainsFunc(blobs, lacks) {
			return false, nil
		}
	}
	return true, nil
}
