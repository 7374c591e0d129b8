package mirror

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"sync"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/diskspace"
)

// Nodes is the host's side of the files that nodes write to the store themselves.
type Nodes struct {
	store *Store
	host  string // a random name of this host

	bringing sync.Mutex
}

// NewNodes returns the host's side for a store. A [Mirror] has its own.
func NewNodes(s *Store) *Nodes { return &Nodes{store: s, host: rand.Text()} }

// URL is where the store is.
func (n *Nodes) URL() string { return n.store.url }

func (n *Nodes) prefix() string { return nodesPrefix + n.host + "/" }

// Folder returns the folder for the files of a checkpoint, as [storage.Manifest].Stored has it. No other
// attempt, lease or host has the same.
func (n *Nodes) Folder(trial string, id, attempt, lease uint32) string {
	return path.Join(n.prefix()+trial, fmt.Sprintf("%06d-%d-%d", id, attempt, lease))
}

// Mark writes an object whose text a node returns if it sees the same store.
func (n *Nodes) Mark(ctx context.Context) (key, text string, err error) {
	key, text = n.prefix()+"mark-"+rand.Text(), rand.Text()
	return key, text, n.store.put(ctx, key, []byte(text))
}

// Unmark removes the object.
func (n *Nodes) Unmark(ctx context.Context, key string) error { return n.store.delete(ctx, key) }

// Check compares what a node says that it has written with what is there.
func (n *Nodes) Check(ctx context.Context, m *storage.Manifest) error {
	there, err := n.store.sizes(ctx, m.Stored)
	if err != nil {
		return err
	}
	for _, f := range m.Files {
		if size, ok := there[keyOf(m, f)]; !ok || size != f.Bytes {
			return fmt.Errorf("%s/%s does not have %s with %d bytes, which the node says it has written", n.store.url,
				m.Stored, f.Path, f.Bytes)
		}
	}
	return nil
}

// Trim removes files that nodes have written into the folder of a checkpoint and that it does not have.
func (n *Nodes) Trim(ctx context.Context, m *storage.Manifest, extra []storage.File) (err error) {
	has := map[string]bool{}
	for _, f := range m.Files {
		has[keyOf(m, f)] = true
	}
	for _, f := range extra {
		if key := keyOf(m, f); !has[key] {
			has[key] = true
			err = errors.Join(err, n.store.delete(ctx, key))
		}
	}
	return err
}

// Drop removes what a node has written for a checkpoint that is not one.
func (n *Nodes) Drop(ctx context.Context, folder string) error {
	list, err := n.store.list(ctx, folder+"/")
	for _, o := range list {
		err = errors.Join(err, n.store.delete(ctx, o.key))
	}
	return err
}

// tries is how often the host asks a store that does not answer for files that it needs.
const tries = 8

// Bring fetches the files of a checkpoint that are in the store alone into its folder. A
// *storage.DamagedError says that the store does not have them. It does nothing if they are there.
func (n *Nodes) Bring(ctx context.Context, checkpoint string) (err error) {
	n.bringing.Lock() // several trials may continue from the same one
	defer n.bringing.Unlock()
	for try, delay := 1, pace; ; try, delay = try+1, min(2*delay, slowest) {
		err = n.store.Bring(ctx, checkpoint)
		if _, damaged := errors.AsType[*storage.DamagedError](err); err == nil || damaged || diskspace.IsFull(err) ||
			try == tries || !wait(ctx, delay) {
			return err
		}
	}
}

// Bring is [Nodes.Bring] with one try, for readers.
func (s *Store) Bring(ctx context.Context, checkpoint string) error {
	err := storage.BringFiles(checkpoint, func(m storage.Manifest, folder string) error {
		return s.load(ctx, m, folder, func() {})
	})
	if errors.Is(err, ErrNone) {
		return &storage.DamagedError{Dir: checkpoint, What: err.Error()}
	}
	return err
}
