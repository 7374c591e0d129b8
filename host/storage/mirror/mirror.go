package mirror

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Names of an experiment's objects.
const (
	experimentFile = "experiment.yaml"
	runFile        = "run.json"
	journalPrefix  = "journal/"
	blobPrefix     = "blobs/"
	nodesPrefix    = "nodes/"
	manifestName   = "MANIFEST.json"
)

// smallFiles are copied whole whenever they have changed.
var smallFiles = []string{runFile, "tunehost.lock", "learned.jsonl"}

// Record is the journal as it grows.
type Record interface {
	// Tail returns the file that is being written and the length of its complete frames.
	Tail() (name string, size int64)
	Sync() error
}

// Mirror copies an experiment to its store while it runs.
type Mirror struct {
	store  *Store
	dir    storage.Dir
	record Record
	lease  *Lease
	// Nodes is the place for the files that nodes write themselves.
	Nodes *Nodes
	// Fetched says that the directory was filled from the store just now; it may lack a torn end that the store has.
	Fetched bool

	mu      sync.Mutex
	saved   []string // directories with new manifests
	deleted []deletion
	wake    chan struct{}

	rounding  sync.Mutex // guards what follows
	pushed    map[string]*segment
	small     map[string]time.Time // time of the last change that was copied
	manifests map[string][]string  // in the store: the blobs of each
	blobs     map[string]int       // in the store, by key: how many manifests name each
	announced bool                 // experiment.yaml is in the store
	swept     bool                 // remains of earlier hosts are removed
}

// deletion waits until the record of it is in the store.
type deletion struct {
	dir    string
	remove func() // the local copy
}

// New prepares to copy the directory of a host that holds the lease.
func New(s *Store, l *Lease, dir storage.Dir) *Mirror {
	return &Mirror{store: s, dir: dir, lease: l, Nodes: NewNodes(s), wake: make(chan struct{}, 1),
		pushed: map[string]*segment{}, small: map[string]time.Time{},
		manifests: map[string][]string{}, blobs: map[string]int{}}
}

// Saved says that a checkpoint or an exported model is complete in a directory. It is called before
// the record names it.
func (m *Mirror) Saved(dir string) {
	m.mu.Lock()
	m.saved = append(m.saved, dir)
	m.mu.Unlock()
	m.Wake()
}

// Delete deletes a checkpoint in the store and then, with remove, locally, once everything recorded so
// far is in the store.
func (m *Mirror) Delete(dir string, remove func()) {
	m.mu.Lock()
	m.deleted = append(m.deleted, deletion{dir, remove})
	m.mu.Unlock()
	m.Wake()
}

// Wake says that something happened.
func (m *Mirror) Wake() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// round copies what is new; the package comment explains the order.
func (m *Mirror) round(ctx context.Context) error {
	m.rounding.Lock()
	defer m.rounding.Unlock()
	if err := m.look(ctx); err != nil {
		return err
	}
	// The order matters: the deletions are in the record up to here, and the checkpoints that the record
	// up to here names are saved.
	deleted := take(m, &m.deleted)
	name, size := m.record.Tail()
	err := m.record.Sync()
	saved := take(m, &m.saved)
	if err == nil {
		err = m.push(ctx, &saved, name, size)
	}
	for err == nil && len(deleted) > 0 {
		if err = m.removeManifest(ctx, m.key(deleted[0].dir)); err == nil {
			deleted[0].remove()
			deleted = deleted[1:]
		}
	}
	if err == nil {
		err = m.sweep(ctx)
	}
	m.mu.Lock()
	m.saved, m.deleted = append(saved, m.saved...), append(deleted, m.deleted...)
	m.mu.Unlock()
	return err
}

// take empties a list that others add to.
func take[T any](m *Mirror, list *[]T) (all []T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, *list = *list, nil
	return all
}

// push checks that this host may still write before the record and before each checkpoint, which may
// take long to copy.
func (m *Mirror) push(ctx context.Context, saved *[]string, tail string, size int64) error {
	for len(*saved) > 0 {
		if err := m.lease.Held(); err != nil {
			return err
		}
		if err := m.pushManifest(ctx, (*saved)[0]); err != nil {
			return err
		}
		*saved = (*saved)[1:]
	}
	if err := m.lease.Held(); err != nil {
		return err
	}
	for _, name := range smallFiles {
		if err := m.pushSmall(ctx, name); err != nil {
			return err
		}
	}
	if err := m.pushJournal(ctx, tail, size); err != nil || m.announced {
		return err
	}
	err := m.lease.begun(ctx)
	if err == nil {
		err = m.pushSmall(ctx, experimentFile)
	}
	m.announced = err == nil
	return err
}

// maxSmall is larger than any of smallFiles.
const maxSmall = 1 << 30

// pushSmall copies a file if it has changed; a missing file is no error.
func (m *Mirror) pushSmall(ctx context.Context, name string) error {
	path := filepath.Join(m.dir.Path(), name)
	info, err := nolink.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil || info.ModTime().Equal(m.small[name]) {
		return err
	}
	text, err := nolink.ReadFile(path, maxSmall)
	if err != nil {
		return err
	}
	if err := m.store.put(ctx, name, text); err != nil {
		return err
	}
	m.small[name] = info.ModTime()
	return nil
}
