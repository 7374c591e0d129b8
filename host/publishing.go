package host

import (
	"context"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/storage"
)

// linger is how long events gather before they are made safe and told.
const linger = 50 * time.Millisecond

// publishing tells reporters what happened, and does what cannot be taken back,
// once the record of it is safe on disk: a loss of power never takes back what
// somebody was told.
type publishing struct {
	record    Recorder
	reporters []listener
	log       *hostlog.Log
	clock     clock.Clock
	fail      func(error)
	remote    *remote

	mu      sync.Mutex
	events  []report.Event
	deeds   []func() // what rests on the record
	wake    chan struct{}
	closing chan struct{}
	done    chan struct{}
}

// listener is told what is safe.
type listener interface {
	put([]report.Event)
	// end is called after the last put; await waits until all is heard.
	end()
	await(context.Context)
}

func newPublishing(r Recorder, log *hostlog.Log, clock clock.Clock, fail func(error), remote *remote) *publishing {
	return &publishing{record: r, remote: remote, log: log, clock: clock, fail: fail,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
}

func (p *publishing) tell(e report.Event) {
	p.mu.Lock()
	p.events = append(p.events, e)
	p.mu.Unlock()
}

// delete removes a checkpoint, later.
func (p *publishing) delete(d storage.Dir, dir string, id uint32) {
	remove := func() {
		if err := d.RemoveCheckpoint(dir, id); err != nil {
			p.log.Warn("a checkpoint could not be deleted: " + err.Error())
		}
	}
	p.later(func() { p.remote.delete(storage.CheckpointDir(dir, id), remove) })
}

// later does something once the record of all that has happened is safe.
func (p *publishing) later(do func()) {
	p.mu.Lock()
	p.deeds = append(p.deeds, do)
	p.mu.Unlock()
}

func (p *publishing) flush() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *publishing) run() {
	defer close(p.done)
	for {
		select {
		case <-p.wake:
		case <-p.closing:
			p.publish()
			return
		}
		select {
		case <-p.after(linger):
		case <-p.closing:
		}
		p.publish()
	}
}

func (p *publishing) after(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	p.clock.AfterFunc(d, func() { close(c) })
	return c
}

// publish makes the record safe, then tells and does what rests on it.
func (p *publishing) publish() {
	p.mu.Lock()
	events, deeds := p.events, p.deeds
	p.events, p.deeds = make([]report.Event, 0, len(events)), nil // as many may come again
	p.mu.Unlock()
	if err := p.record.Sync(); err != nil {
		p.fail(unrecorded(err))
		return
	}
	for _, r := range p.reporters {
		r.put(events)
	}
	for _, do := range deeds {
		do()
	}
	p.remote.wake()
}

// close tells the rest and waits for all reporters until the context ends.
func (p *publishing) close(ctx context.Context) {
	close(p.closing)
	<-p.done
	for _, r := range p.reporters {
		r.end()
	}
	for _, r := range p.reporters {
		r.await(ctx)
	}
}

// narrator makes reports of what the core saw. It is told every observation in
// order, since the record began, so that times and totals come out the same
// after a crash.
type narrator struct {
	machine *core.Machine
	trial   func(core.TrialNo) report.Trial
	tracks  map[core.TrialNo]*track
	host    string
	// seen is the last observation for reporters, hosts how many have taken
	// the experiment up: both count in the events' numbers.
	seen, hosts uint64
}

// track is what a running trial's next report needs.
type track struct {
	pid       uint32
	restored  uint64 // iteration that the attempt began from
	fromCkpt  bool
	began     int64 // training time when the attempt began
	last      int64 // training time of the last result
	sums      map[string]float64
	sinceSums map[string]float64
}
