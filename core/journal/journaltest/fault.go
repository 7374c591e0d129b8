package journaltest

import (
	"strings"
	"syscall"
)

// Death is how a process ends.
type Death int

// The deaths.
const (
	Kill  Death = iota // kill -9: the page cache stays
	Power              // loss of power: of what was not synced, anything may be left
)

// Phase is when in an operation a process dies.
type Phase int

// The phases.
const (
	Before Phase = iota // nothing of the operation is done
	Middle              // a write is done in part; other operations are done or not
	After               // it is done, but the process does not hear of it
)

// Failure is how an operation fails that the process survives.
type Failure int

// The failures.
const (
	NoSpace Failure = 1 + iota // a full disk; a write is done in part
	IO                         // an error of the disk; a sync loses what it was to write, and the next one succeeds
	Short                      // a write is done in part and returns no error
)

type fault struct {
	dies    bool
	death   Death
	phase   Phase
	failure Failure
}

// DieAt lets the process die at its operation number op, counted from 1.
func (f *FS) DieAt(op int, death Death, phase Phase) {
	f.plan[op] = fault{dies: true, death: death, phase: phase}
}

// FailAt lets operation number op fail, counted from 1.
func (f *FS) FailAt(op int, failure Failure) { f.plan[op] = fault{failure: failure} }

// operation is one call of the file system under way.
type operation struct {
	fs    *FS
	fault fault
	err   error
}

// begin counts an operation and finds out what is to happen to it. Those with a verb are traced.
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

// fail is the outcome of an operation that changes nothing.
func (o *operation) fail() error {
	if o.err != nil {
		return o.err
	}
	return o.result()
}

// happens says whether an operation that is whole or nothing is done.
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

// portion says how many of n bytes are written, when growth of them need room.
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

// takeRoom lets a write end early where the disk is full.
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

// result ends the operation.
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
