package journaltest

import (
	"strings"
	"syscall"
)

// Death is a way in which a process ends.
type Death int

// The deaths.
const (
	Kill  Death = iota // kill -9: the page cache survives
	Power              // power loss: unsynced data may survive in any part
)

// Phase is the moment of death within an operation.
type Phase int

// The phases.
const (
	Before Phase = iota // nothing of the operation was done
	Middle              // a write was done in part; other operations were done or not
	After               // it was done, but the process did not see the result
)

// Failure is a way in which an operation fails while the process survives.
type Failure int

// The failures.
const (
	NoSpace Failure = 1 + iota // a full disk; a write was done in part
	IO                         // a disk error; a sync loses its data, and the next one succeeds
	Short                      // a write was done in part and returns no error
)

type fault struct {
	dies    bool
	death   Death
	phase   Phase
	failure Failure
}

// DieAt makes the process die at operation number op, counted from 1.
func (f *FS) DieAt(op int, death Death, phase Phase) {
	f.plan[op] = fault{dies: true, death: death, phase: phase}
}

// FailAt makes operation number op fail, counted from 1.
func (f *FS) FailAt(op int, failure Failure) { f.plan[op] = fault{failure: failure} }

// An operation is one call of the file system in progress.
type operation struct {
	fs    *FS
	fault fault
	err   error
}

// begin counts an operation and looks up its fault. Operations with a verb are traced.
func (f *FS) begin(verb, object string) *operation {
	o := &operation{fs: f}
	if f.dead {
		o.err = ErrDead
		return o
	}
	f.ops++
	o.fault = f.plan[f.ops]
	if verb != "" {
		f.trace = append(f.trace, strings.TrimSpace(verb+" "+object))
	}
	return o
}

// do runs what unless a fault prevents it.
func (o *operation) do(what func()) error {
	if o.err != nil {
		return o.err
	}
	if o.happens() {
		what()
	}
	return o.result()
}

// fail returns the error of an operation that changes nothing.
func (o *operation) fail() error {
	if o.err != nil {
		return o.err
	}
	return o.result()
}

// happens reports whether an atomic operation is done.
func (o *operation) happens() bool {
	switch {
	case o.fault.failure == Short:
		return true
	case o.fault.failure != 0:
		return false
	case o.fault.dies && o.fault.phase == Middle:
		return o.fs.rand.IntN(2) == 0
	}
	return !o.fault.dies || o.fault.phase == After
}

// portion returns how many of n bytes are written, if growth of them need space.
func (o *operation) portion(n int, growth int64) int {
	if o.err != nil {
		return 0
	}
	done := n
	switch {
	case o.fault.failure != 0 || o.fault.dies && o.fault.phase == Middle:
		done = o.fs.rand.IntN(n)
	case o.fault.dies && o.fault.phase == Before:
		done = 0
	}
	return o.fs.takeRoom(o, done, growth)
}

// takeRoom shortens a write on a full disk.
func (f *FS) takeRoom(o *operation, n int, growth int64) int {
	if f.room < 0 {
		return n
	}
	if missing := growth - f.room; missing > 0 {
		n = min(n, max(0, n-int(missing)))
		o.fault.failure = NoSpace
	}
	f.room = max(0, f.room-growth)
	return n
}

func (f *FS) giveBack(n int64) {
	if f.room >= 0 && n > 0 {
		f.room += n
	}
}

// result ends the operation and returns its error.
func (o *operation) result() error {
	switch {
	case o.err != nil:
		return o.err
	case o.fault.dies:
		o.fs.dead, o.fs.death = true, o.fault.death
		return ErrDead
	case o.fault.failure == NoSpace:
		return syscall.ENOSPC
	case o.fault.failure == IO:
		return syscall.EIO
	}
	return nil
}
