// Package journaltest has a file system in memory that fails like real ones: it dies at a chosen
// operation by kill -9 or power loss, fills up, fails, and loses the data of a failed sync. It
// implements journal.FS, for tests and for the simulation of the host. All random behaviour follows
// from one seed.
//
// A file has two contents: the page cache, which all processes see, and the disk, which survives a
// power loss. The directory has both too. Writes go to the cache and are pending until a sync.
package journaltest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/tunehost/tunehost/core/journal"
)

// ErrDead is returned by each operation after the death of the process.
var ErrDead = errors.New("the process is dead")

// An FS is the directory as one process sees it. It is not safe for concurrent use.
type FS struct {
	rand  *rand.Rand
	names map[string]*node // in the page cache
	disk  map[string]*node
	dirty []dirChange // the changes that SyncDir would make durable

	room   int64 // bytes that can still be written; negative: no limit
	uncut  int   // how many of the next truncations have no space
	ops    int
	trace  []string
	plan   map[int]fault
	dead   bool
	death  Death
	nodeID int
}

var _ journal.FS = (*FS)(nil)

// A node is a file without its name.
type node struct {
	id    int // order of creation
	cache []byte
	disk  []byte
	dirty []change
	lost  bool // a sync failed, and the cache shows data that is not on disk
}

// A change is one write, or a truncation if data is nil.
type change struct {
	offset int64
	data   []byte
}

// A dirChange gives node the name to and removes the name from; either may be empty.
type dirChange struct {
	from, to string
	node     *node
}

// New returns an empty directory without faults; seed determines all random behaviour.
func New(seed uint64) *FS {
	return &FS{
		rand:  rand.New(rand.NewPCG(seed, 0)),
		names: map[string]*node{},
		disk:  map[string]*node{},
		plan:  map[int]fault{},
		room:  -1,
	}
}

// Ops returns the number of operations.
func (f *FS) Ops() int { return f.ops }

// Trace returns one line per operation that changes something.
func (f *FS) Trace() []string { return f.trace }

// Dead reports whether the process has died.
func (f *FS) Dead() bool { return f.dead }

// Death returns how the process died.
func (f *FS) Death() Death { return f.death }

// SetRoom leaves n more bytes of disk space; negative is unlimited.
func (f *FS) SetRoom(n int64) { f.room = n }

// FailTruncate makes the next n truncations fail for lack of space, as on a file system with snapshots.
func (f *FS) FailTruncate(n int) { f.uncut = n }

// ReadBytes returns the contents of a file as processes see them.
func (f *FS) ReadBytes(name string) []byte {
	if n := f.names[name]; n != nil {
		return slices.Clone(n.cache)
	}
	return nil
}

// WriteBytes writes a durable file, as a person with an editor would; it does not count as an
// operation.
func (f *FS) WriteBytes(name string, contents []byte) {
	f.nodeID++
	n := &node{id: f.nodeID, cache: slices.Clone(contents), disk: slices.Clone(contents)}
	f.names[name], f.disk[name] = n, n
}

// Delete removes a file durably; it does not count as an operation.
func (f *FS) Delete(name string) {
	delete(f.names, name)
	delete(f.disk, name)
}

// Names returns all names, sorted.
func (f *FS) Names() []string { return slices.Sorted(maps.Keys(f.names)) }

// List implements journal.ReadFS.
func (f *FS) List() ([]string, error) {
	if err := f.begin("", "").fail(); err != nil {
		return nil, err
	}
	return f.Names(), nil
}

// Open implements journal.ReadFS.
func (f *FS) Open(name string) (journal.ReadFile, error) {
	if err := f.begin("", "").fail(); err != nil {
		return nil, err
	}
	n := f.names[name]
	if n == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &file{fs: f, node: n}, nil
}

// Create implements journal.FS.
func (f *FS) Create(name string) (journal.File, error) {
	o := f.begin("create", name)
	n := f.names[name]
	err := o.do(func() {
		if n != nil {
			n.apply(change{})
			return
		}
		f.nodeID++
		n = &node{id: f.nodeID}
		f.rename(dirChange{to: name, node: n})
	})
	if err != nil {
		return nil, err
	}
	return &file{fs: f, node: n}, nil
}

// Rename implements journal.FS.
func (f *FS) Rename(from, to string) error {
	o := f.begin("rename", from+" "+to)
	n := f.names[from]
	if n == nil {
		return or(o.fail(), fs.ErrNotExist)
	}
	return o.do(func() { f.rename(dirChange{from: from, to: to, node: n}) })
}

// Remove implements journal.FS.
func (f *FS) Remove(name string) error {
	o := f.begin("remove", name)
	n := f.names[name]
	if n == nil {
		return or(o.fail(), fs.ErrNotExist)
	}
	return o.do(func() { f.rename(dirChange{from: name, node: n}) })
}

// SyncDir implements journal.FS.
func (f *FS) SyncDir() error {
	return f.begin("syncdir", "").do(func() {
		for _, c := range f.dirty {
			c.apply(f.disk)
		}
		f.dirty = nil
	})
}

// or returns err, or otherwise if err is nil.
func or(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func (f *FS) rename(c dirChange) {
	c.apply(f.names)
	f.dirty = append(f.dirty, c)
}

// apply changes names; the old name is removed only if it still refers to this node.
func (c dirChange) apply(names map[string]*node) {
	if c.from != "" && names[c.from] == c.node {
		delete(names, c.from)
	}
	if c.to != "" {
		names[c.to] = c.node
	}
}

// apply changes the contents that processes see.
func (n *node) apply(c change) {
	n.cache = c.apply(n.cache)
	n.dirty = append(n.dirty, c)
}

// apply changes contents; holes read as zeros.
func (c change) apply(contents []byte) []byte {
	if c.data == nil {
		return resize(contents, int(c.offset))
	}
	end := int(c.offset) + len(c.data)
	if len(contents) < end {
		contents = resize(contents, end)
	}
	copy(contents[c.offset:], c.data)
	return contents
}

func resize(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n]
	}
	return append(b, make([]byte, n-len(b))...)
}

// A file is an open file; it stays with its node when that is renamed.
type file struct {
	fs   *FS
	node *node
}

// name returns the current name, for the trace.
func (h *file) name() string {
	for _, name := range h.fs.Names() {
		if h.fs.names[name] == h.node {
			return name
		}
	}
	return "(no name)"
}

func (h *file) Close() error         { return nil }
func (h *file) Size() (int64, error) { return int64(len(h.node.cache)), h.fs.begin("", "").fail() }

func (h *file) ReadAt(b []byte, offset int64) (int, error) {
	if err := h.fs.begin("", "").fail(); err != nil {
		return 0, err
	}
	if offset > int64(len(h.node.cache)) {
		return 0, io.EOF
	}
	n := copy(b, h.node.cache[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *file) WriteAt(b []byte, offset int64) (int, error) {
	o := h.fs.begin("write", fmt.Sprintf("%s %d+%d", h.name(), offset, len(b)))
	n := o.portion(len(b), max(0, offset+int64(len(b))-int64(len(h.node.cache))))
	if n > 0 {
		h.node.apply(change{offset, slices.Clone(b[:n])})
	}
	return n, o.result()
}

func (h *file) Truncate(size int64) error {
	o := h.fs.begin("truncate", fmt.Sprintf("%s %d", h.name(), size))
	if h.fs.uncut > 0 {
		h.fs.uncut--
		o.fault.failure = NoSpace
	}
	return o.do(func() {
		h.fs.giveBack(int64(len(h.node.cache)) - size)
		h.node.apply(change{offset: size})
	})
}

func (h *file) Sync() error {
	o := h.fs.begin("sync", h.name())
	if o.fault.failure == IO {
		h.fs.drop(h.node)
	}
	return o.do(func() {
		for _, c := range h.node.dirty {
			h.node.disk = c.apply(h.node.disk)
		}
		h.node.dirty = nil
	})
}
