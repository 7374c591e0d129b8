package storage

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
)

// Saving is a save in progress: others see how far it is, and can give it up.
type Saving struct {
	until       context.Context
	done, total atomic.Int64 // bytes of this step
	moved       atomic.Int64 // bytes of all steps
	unseen      atomic.Int64 // steps at work that count no bytes
}

// unwatched is a save that nobody looks at.
var unwatched *Saving

// NewSaving returns a save that fails with the cause of a context once that has ended.
func NewSaving(until context.Context) *Saving { return &Saving{until: until} }

// Progress returns how many bytes of how many are read and written. total is 0 until it is known.
func (s *Saving) Progress() (done, total int64) {
	total = s.total.Load()
	return min(s.done.Load(), total), total // a file that is compared with another is read twice
}

// Stands reports whether the save has not got on since the mark, which Stands returned before; 0 is its beginning.
func (s *Saving) Stands(mark int64) (now int64, stands bool) {
	now = s.moved.Load()
	return now, now == mark && s.unseen.Load() == 0
}

// Unseen says that the save gets on without counting bytes, until over is called: the kernel writes a file to the disk,
// or a node writes to the storage.
func (s *Saving) Unseen() (over func()) {
	if s == nil {
		return func() {}
	}
	s.unseen.Add(1)
	return func() {
		s.moved.Add(1)
		s.unseen.Add(-1)
	}
}

// Write counts bytes that were read or written.
func (s *Saving) Write(b []byte) (int, error) {
	if s == nil {
		return len(b), nil
	}
	s.done.Add(int64(len(b)))
	s.moved.Add(int64(len(b)))
	return len(b), s.Err()
}

// Err is why the save is given up; nil: it is not.
func (s *Saving) Err() error {
	if s == nil {
		return nil
	}
	return context.Cause(s.until)
}

// Context ends when the save is given up.
func (s *Saving) Context() context.Context {
	if s == nil {
		return context.Background()
	}
	return s.until
}

// AtEnd calls a function when the save is given up, unless stop is called before.
func (s *Saving) AtEnd(f func()) (stop func() bool) {
	if s == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(s.until, f)
}

// begins says how many bytes the next step handles.
func (s *Saving) begins(total int64) {
	if s != nil {
		s.done.Store(0)
		s.total.Store(total)
	}
}

// watchers are what is to see all that is copied; none lets the kernel copy.
func (s *Saving) watchers() []io.Writer {
	if s == nil {
		return nil
	}
	return []io.Writer{s}
}

// watched is a reader that counts what it reads.
func (s *Saving) watched(in io.Reader) io.Reader {
	if s == nil {
		return in
	}
	return io.TeeReader(in, s)
}

// units are those in which people read how much of a save is done.
var units = []struct {
	name string
	size int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// Share is "12 of 1024 GiB".
func Share(done, total int64) string {
	for _, u := range units {
		if total >= 2*u.size {
			return fmt.Sprintf("%d of %d %s", done/u.size, total/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d of %d bytes", done, total)
}
