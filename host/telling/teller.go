package telling

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/view"
)

// Limits of what waits for one reporter, in bytes, roughly: beyond them it is
// forgotten, and read from the record again when the reporter has the time.
const (
	mostWaiting = 64 << 20 // for the host's own
	// MostForPlugin is for those that are plugins.
	MostForPlugin = 8 << 20
	// mostTold is how many events are told at a time.
	mostTold = 4096
)

// Reportee hears events, one call at a time.
type Reportee interface {
	Report(ctx context.Context, events []view.Event) error
	// Revive is called after an error. It says after which event the
	// reportee is to be told on, or why it is to be left alone.
	Revive(ctx context.Context, failure error) (after uint64, err error)
	Close() error
}

// TellerOptions say who is told, and what.
type TellerOptions struct {
	Name string // for messages
	To   Reportee
	// After is the last event that it has. Begun is the last one that is in the
	// record alone: those that come later will be put.
	After, Begun uint64
	// Most is how many bytes may wait; 0: as many as for the host's own.
	Most int
	// Follow begins to read the record.
	Follow func() (*view.EventLog, error)
	Log    *hostlog.Log
}

// Teller tells one reporter, at its own pace (B-127). What it has not been
// told waits here, or in the record where that is too much. It is a Listener.
type Teller struct {
	TellerOptions

	told   uint64         // the last event that it has
	reader *view.EventLog // while behind

	mu      sync.Mutex
	ready   sync.Cond
	waiting []view.Event
	weight  int
	last    uint64 // the last event that may be told
	// behind: nothing waits, and what it has not been told is in the record.
	behind bool
	closed bool
	lost   bool // it is told no more

	ctx  context.Context
	stop context.CancelFunc
	done chan struct{}
}

// NewTeller begins with Run.
func NewTeller(o TellerOptions) *Teller {
	o.Most = cmp.Or(o.Most, mostWaiting)
	r := &Teller{TellerOptions: o, told: o.After, last: o.Begun, behind: o.After < o.Begun, done: make(chan struct{})}
	r.ready.L = &r.mu
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Put adds events that are safe in the record. It never waits.
func (r *Teller) Put(events []view.Event) {
	if len(events) == 0 {
		return
	}
	weight := view.Weigh(events)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = max(r.last, events[len(events)-1].Number)
	switch {
	case r.lost || r.behind:
	case r.weight+weight > r.Most:
		r.waiting, r.weight, r.behind = nil, 0, true
	default:
		r.waiting = append(r.waiting, events...)
		r.weight += weight
	}
	r.ready.Signal()
}

// Run tells until all is told after End, or the time of Await is over.
func (r *Teller) Run() {
	defer close(r.done)
	for {
		events, ok := r.next()
		if !ok {
			break
		}
		r.tell(events)
	}
	r.setReader(nil)
	if err := r.To.Close(); err != nil && !r.lost {
		r.Log.Warn("reporter " + r.Name + ": " + err.Error())
	}
}

// next waits for events that it has not been told; false at the end.
func (r *Teller) next() ([]view.Event, bool) {
	for {
		events, through, ok := r.pick()
		if !ok || len(events) > 0 {
			return events, ok
		}
		events, err := r.read(through)
		if err != nil {
			r.leave(fmt.Errorf("what it has not been told cannot be read: %w", err))
			return nil, false
		}
		if len(events) > 0 {
			return events, true
		}
	}
}

// pick waits for events, or for the need to read them up to one.
func (r *Teller) pick() (events []view.Event, through uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case r.lost || r.ctx.Err() != nil:
			return nil, 0, false
		case r.behind && r.told < r.last:
			return nil, r.last, true
		case r.behind:
			r.behind = false
			r.setReader(nil)
		case len(r.waiting) > 0:
			return r.take(), 0, true
		case r.closed:
			return nil, 0, false
		default:
			r.ready.Wait()
		}
	}
}

// take needs r.mu.
func (r *Teller) take() []view.Event {
	n := min(len(r.waiting), mostTold)
	events := r.waiting[:n:n]
	r.waiting = r.waiting[n:]
	r.weight -= view.Weigh(events)
	return events
}

// read reads on in the record.
func (r *Teller) read(through uint64) ([]view.Event, error) {
	if r.reader == nil {
		f, err := r.Follow()
		if err != nil {
			return nil, err
		}
		r.reader = f
	}
	return r.reader.Next(r.ctx, r.told, through)
}

func (r *Teller) setReader(f *view.EventLog) {
	if r.reader != nil {
		r.reader.Close()
	}
	r.reader = f
}

// tell tells events, and looks after a reporter that fails.
func (r *Teller) tell(events []view.Event) {
	for len(events) > 0 && events[0].Number <= r.told {
		events = events[1:]
	}
	if len(events) == 0 {
		return
	}
	err := r.To.Report(r.ctx, events)
	if err == nil {
		r.told = events[len(events)-1].Number
		return
	}
	if r.ctx.Err() != nil {
		return // it was the host that had no more time
	}
	after, err := r.To.Revive(r.ctx, err)
	if err != nil {
		r.leave(err)
		return
	}
	r.goOn(after, events)
}

// goOn goes on after an event, with those that were not taken: they are at hand
// unless it has forgotten some that it had taken before.
func (r *Teller) goOn(after uint64, events []view.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.behind || after < r.told:
		r.setReader(nil)
		r.waiting, r.weight, r.behind = nil, 0, true
	default:
		r.waiting = append(events, r.waiting...)
		r.weight += view.Weigh(events)
	}
	r.told = after
}

// leave is the end of telling; the experiment goes on.
func (r *Teller) leave(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost, r.waiting, r.weight = true, nil, 0
	if r.ctx.Err() == nil {
		r.Log.Warn("reporter " + r.Name + " is told no more, and the experiment goes on without it: " + err.Error())
	}
}

// End is called after the last put.
func (r *Teller) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.ready.Signal()
}

// abandonTime is how long a reporter that has no more time may take to end.
const abandonTime = 10 * time.Second

// Await waits until all is told, or the context ends.
func (r *Teller) Await(ctx context.Context) {
	defer r.stop()
	select {
	case <-r.done:
		return
	case <-ctx.Done():
	}
	r.abandon()
	r.Log.Warn("reporter " + r.Name + " had not heard all when the host ended; the rest is told when the experiment is taken up again")
	select {
	case <-r.done:
	case <-time.After(abandonTime): // one of the host's own, which writes to somebody who does not read
	}
}

func (r *Teller) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	r.ready.Broadcast()
}

// Own is a reporter of the host's: an error is its end.
type Own struct{ report.Reporter }

// Report implements Reportee.
func (o Own) Report(_ context.Context, events []view.Event) error { return o.Reporter.Report(events) }

// Revive implements Reportee.
func (o Own) Revive(_ context.Context, failure error) (uint64, error) { return 0, failure }
