package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/config/stoprules"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/storage/diskspace"
)

const (
	// maxBatchEvents is how many events a step takes at most.
	maxBatchEvents = 4096
	slowStep       = time.Second
)

// Options are what an engine is made of.
type Options struct {
	Ports
	History *history.History // of the recorded events
	Inbox   *inbox.Inbox
	Rules   *stoprules.Rules
	Disk    *diskspace.Disk
	Log     *hostlog.Log
	// Before is the running time of earlier hosts, in nanoseconds.
	Before int64
}

// Engine takes what is in the inbox, records it, applies it, and passes the actions to the ports.
// Nothing else changes the experiment.
type Engine struct {
	Options
	machine  *core.Machine // the history's machine
	time     runningTime
	encoder  encoder
	order    order
	lag      lag
	leave    <-chan struct{} // closed when the host is told to leave; nil: never
	finished bool
	stepped  bool          // this engine has applied something
	waited   time.Duration // for room on the disk, in this step
	spare    []inbox.Item
}

// New returns an engine that has not done anything yet.
func New(o Options) *Engine {
	m := o.History.Machine()
	return &Engine{Options: o, machine: m, time: newRunningTime(o.Clock, o.Before), encoder: newEncoder(m, o.Rules)}
}

// Running returns the running time of the experiment.
func (l *Engine) Running() time.Duration { return l.time.running() }

// Time returns the running time of the last step, or of now if that is later, in nanoseconds.
func (l *Engine) Time() int64 { return l.time.tick() }

// SetTime replaces the clock by the caller's time from here on. Time never goes back.
func (l *Engine) SetTime(at int64) { l.time.set(at) }

// TimeTold reports whether the time is the caller's, to the nanosecond: a clock has no part in it.
func (l *Engine) TimeTold() bool { return l.time.exact }

// Finished reports that the experiment has ended, or was saved to be resumed.
func (l *Engine) Finished() bool { return l.finished }

// Over reports whether nothing is left to do.
func (l *Engine) Over() bool { return l.finished || l.over() }

// Run turns until the experiment is finished, or the record cannot be written. leave is closed when
// the host is told to leave: then it does not wait for room on a full disk.
func (l *Engine) Run(ctx context.Context, leave <-chan struct{}) error {
	l.leave = leave
	for !l.Over() {
		busy, err := l.Step()
		if err != nil {
			return err
		}
		if !busy {
			select {
			case <-l.Inbox.Signal():
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// Step takes what is in the inbox; busy reports whether there was anything.
func (l *Engine) Step() (busy bool, err error) {
	batch := l.Inbox.Take(l.spare)
	if len(batch) == 0 {
		return false, nil
	}
	l.lag.watch(len(batch), l.Clock, l.Log)
	if err := l.stepAll(batch); err != nil {
		return true, err
	}
	l.spare = batch
	return true, nil
}

// over reports that the experiment had ended before, and nothing has changed that.
func (l *Engine) over() bool {
	o, _ := l.machine.Outcome()
	return o != 0 && l.stepped
}

// stepAll takes a batch in pieces of limited size.
func (l *Engine) stepAll(batch []inbox.Item) error {
	for len(batch) > 0 && !l.finished {
		if q := batch[0].Query; q != nil {
			q(l.machine)
			batch = batch[1:]
			continue
		}
		if c := batch[0].Claim; c != nil && !c.Open() {
			c.Refused(inbox.ErrGivenUp)
			batch = batch[1:]
			continue
		}
		part := untilOther(batch[:min(len(batch), maxBatchEvents)])
		if err := l.stepInOrder(part); err != nil {
			return err
		}
		batch = batch[len(part):]
	}
	return nil
}

// stepInOrder takes what may be recorded now, and then what waited for that.
func (l *Engine) stepInOrder(batch []inbox.Item) error {
	for now := l.order.admit(l.machine, batch); len(now) > 0 && !l.finished; now = l.order.release(l.machine) {
		for len(now) > 0 && !l.finished {
			n, err := l.step(now[:l.Rules.Cut(now)])
			if err != nil {
				return err
			}
			now = now[n:]
		}
	}
	return nil
}

// untilOther returns the part of the batch before the next query of the machine. An event with a claim is a part by
// itself: it is looked at when it is its turn, and can be refused alone.
func untilOther(batch []inbox.Item) []inbox.Item {
	for i := 1; i < len(batch); i++ {
		if batch[0].Claim != nil || batch[i].Claim != nil || batch[i].Query != nil {
			return batch[:i]
		}
	}
	return batch
}

// step records, applies and acts. It returns how much of the batch it has taken, which is at least
// one.
func (l *Engine) step(batch []inbox.Item) (int, error) {
	started := l.Clock.Now()
	l.waited = 0
	records, n, err := l.encoder.encode(l.time.tick(), batch)
	if err != nil {
		return 0, err
	}
	refused := refusal(&batch[0])
	err = l.keep(records, refused == nil)
	switch {
	case refused != nil && diskspace.IsFull(err):
		refused(err)
		return n, nil
	case err != nil:
		return 0, err
	}
	for _, b := range records {
		if err := l.apply(b); err != nil {
			return 0, err
		}
	}
	l.stepped = true
	if o, _ := l.machine.Outcome(); o == 0 {
		l.finished = false // a later event has continued the experiment
	}
	l.flush()
	if d := l.Clock.Since(started) - l.waited; d > slowStep {
		l.Log.Slow("a step of the host, which a busy machine or a slow disk delays,", d)
	}
	return n, nil
}

// refusal is how an event is refused that does not wait for room on a full disk; nil: it waits. Somebody who waits for
// a change would have given it up when there is room. An interrupt is none: it ends a host on a full disk, too.
func refusal(x *inbox.Item) func(error) {
	if _, ends := x.Event.(*core.Interrupted); ends || x.Claim == nil {
		return nil
	}
	return x.Claim.Refused
}

// Unrecorded ends a host: what happens after it could not be resumed.
func Unrecorded(err error) error {
	return fmt.Errorf("the record cannot be written, and everything is stopped: %w", diskspace.TooLarge(err))
}

// noRoom ends a host that waits for room, and is told to leave or has waited for its own descriptors.
func (l *Engine) noRoom(err error) error {
	what := l.Disk.Missing(err).String()
	if diskspace.IsShort(err) {
		what = err.Error()
	}
	select {
	case <-l.leave:
		return diskspace.Unmet(what)
	default: // it has waited long enough
		return Unrecorded(fmt.Errorf("%w; raise the limit of open files (ulimit -n)", err))
	}
}

// keep records the step. If the disk is full, it waits (B-087), or returns that.
func (l *Engine) keep(records [][]byte, wait bool) error {
	add := func() error { _, err := l.Recorder.Append(records); return err }
	err := add()
	if diskspace.IsFull(err) && !wait {
		return err
	}
	if diskspace.IsFull(err) {
		began := l.Clock.Now()
		err = l.Disk.Wait(l.leave, err, add)
		l.waited = l.Clock.Since(began)
	}
	switch {
	case diskspace.IsFull(err):
		return l.noRoom(err)
	case err != nil:
		return Unrecorded(err)
	}
	return nil
}

// apply applies the recorded bytes, not the event that they were made of.
func (l *Engine) apply(b []byte) error {
	s, err := l.History.Apply(b)
	if err != nil {
		return err
	}
	for _, x := range l.Listeners {
		x.Applied(s.Event)
	}
	if r, ok := s.Event.(*core.ResultReported); ok {
		l.confirm(r, s.Actions)
	}
	l.Publisher.Hear(s)
	for _, a := range s.Actions {
		l.do(a)
	}
	return nil
}
