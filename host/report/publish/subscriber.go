package publish

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/view"
)

// Limits of the events that wait for one reporter, in bytes, roughly. Above the limit the waiting
// events are dropped, and read from the record again when the reporter is ready.
const (
	maxWaiting = 64 << 20 // for the host's own reporters
	// MostForPlugin is the limit for reporter plugins.
	MostForPlugin = 8 << 20
	// maxBatch is how many events a reporter receives in one call.
	maxBatch = 4096
)

// Reportee receives events, one call at a time.
type Reportee interface {
	Report(ctx context.Context, events []view.Event) error
	// Revive is called after an error. It returns after which event to continue, or why the reportee must
	// be given up.
	Revive(ctx context.Context, failure error) (after uint64, err error)
	Close() error
}

// SubscriberOptions say who receives which events.
type SubscriberOptions struct {
	Name string // for messages
	To   Reportee
	// After is the last event that the reportee has. Begun is the last one that is only in the record:
	// later ones will be put.
	After, Begun uint64
	// Most is how many bytes may wait; 0: as for the host's own reporters.
	Most int
	// Follow begins to read the record.
	Follow func() (*view.EventLog, error)
	Log    *hostlog.Log
	// Note notes for readers until when the host waits for the reporter at its end, if it waits long; zero: it does not
	// wait any more. It may be nil.
	Note func(until time.Time) error
}

// Subscriber passes events to one reporter, at its own speed (B-127). Events wait here, or, if they are
// too many, in the record. It is a Listener.
type Subscriber struct {
	SubscriberOptions

	told   uint64         // the last event that it has
	reader *view.EventLog // while behind

	mu      sync.Mutex
	ready   sync.Cond
	waiting []view.Event
	weight  int
	last    uint64 // the last event that may be told
	// behind: nothing waits, and the next events are in the record.
	behind bool
	closed bool
	lost   bool // the reporter was given up

	ctx  context.Context
	stop context.CancelFunc
	done chan struct{}
}

// NewSubscriber begins with Run.
func NewSubscriber(o SubscriberOptions) *Subscriber {
	o.Most = cmp.Or(o.Most, maxWaiting)
	r := &Subscriber{SubscriberOptions: o, told: o.After, last: o.Begun, behind: o.After < o.Begun,
		done: make(chan struct{})}
	r.ready.L = &r.mu
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Put adds events that are safe in the record. It never waits.
func (r *Subscriber) Put(events []view.Event) {
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
	case len(r.waiting) == 0: // mostly: no copy
		r.waiting, r.weight = slices.Clip(events), weight
	default:
		r.waiting = append(r.waiting, events...)
		r.weight += weight
	}
	r.ready.Signal()
}

// Run passes on events until all are passed on after End, or the time of Await is over.
func (r *Subscriber) Run() {
	defer close(r.done)
	for {
		events, ok := r.next()
		if !ok {
			break
		}
		r.deliver(events)
	}
	r.setReader(nil)
	if err := r.To.Close(); err != nil && !r.lost {
		r.Log.Warn("reporter " + r.Name + ": " + err.Error())
	}
}

// next waits for events that were not passed on; false at the end.
func (r *Subscriber) next() ([]view.Event, bool) {
	for {
		events, through, ok := r.pick()
		if !ok || len(events) > 0 {
			return events, ok
		}
		events, err := r.read(through)
		if err != nil {
			r.giveUp(fmt.Errorf("its next events cannot be read: %w", err))
			return nil, false
		}
		if len(events) > 0 {
			return events, true
		}
	}
}

// pick waits for events, or for the need to read them up to one.
func (r *Subscriber) pick() (events []view.Event, through uint64, ok bool) {
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
func (r *Subscriber) take() []view.Event {
	n := min(len(r.waiting), maxBatch)
	events := r.waiting[:n:n]
	r.waiting = r.waiting[n:]
	r.weight -= view.Weigh(events)
	return events
}

// read continues to read the record.
func (r *Subscriber) read(through uint64) ([]view.Event, error) {
	if r.reader == nil {
		f, err := r.Follow()
		if err != nil {
			return nil, err
		}
		r.reader = f
	}
	return r.reader.Next(r.ctx, r.told, through)
}

func (r *Subscriber) setReader(f *view.EventLog) {
	if r.reader != nil {
		r.reader.Close()
	}
	r.reader = f
}

// deliver passes on events, and revives a reporter that fails.
func (r *Subscriber) deliver(events []view.Event) {
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
		return // the host had no more time
	}
	after, err := r.To.Revive(r.ctx, err)
	if err != nil {
		r.giveUp(err)
		return
	}
	r.continueAfter(after, events)
}

// continueAfter continues after an event, with the events that were not taken: they are in memory, unless the reporter
// has lost some that it had taken before.
func (r *Subscriber) continueAfter(after uint64, events []view.Event) {
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

// giveUp gives up the reporter; the experiment continues.
func (r *Subscriber) giveUp(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost, r.waiting, r.weight = true, nil, 0
	if r.ctx.Err() == nil {
		r.Log.Warn("reporter " + r.Name + " receives no more events, and the experiment continues without it: " +
			err.Error())
	}
}

// End is called after the last put.
func (r *Subscriber) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.ready.Signal()
}

// abandonTime is how long an abandoned reporter may take to end.
const abandonTime = 10 * time.Second

// longWait is after what time the user is told for whom the host waits at its end.
const longWait = 2 * time.Second

// Await waits until all is passed on, or the context ends.
func (r *Subscriber) Await(ctx context.Context) {
	defer r.stop()
	if r.received(ctx) {
		return
	}
	r.abandon()
	r.Log.Warn("reporter " + r.Name + " had not received all events when the host ended; it receives the rest when " +
		"the experiment is resumed")
	select {
	case <-r.done:
	case <-time.After(abandonTime): // one of the host's own reporters, whose output nobody reads
	}
}

// received waits until all is passed on; false if the context ends before. It says for whom the host waits long.
func (r *Subscriber) received(ctx context.Context) bool {
	long := time.NewTimer(longWait)
	defer long.Stop()
	for {
		select {
		case <-r.done:
			return true
		case <-ctx.Done():
			return false
		case <-long.C:
			r.sayWait(ctx)
			defer r.note(time.Time{})
		}
	}
}

// sayWait says for whom the host waits, and how long at most.
func (r *Subscriber) sayWait(ctx context.Context) {
	until, ok := ctx.Deadline()
	if !ok {
		return
	}
	r.Log.Warn(fmt.Sprintf("reporter %s has not received all events yet: the host waits for it, %v more at most",
		r.Name, time.Until(until).Round(time.Second)))
	r.note(until)
}

func (r *Subscriber) note(until time.Time) {
	if r.Note == nil {
		return
	}
	if err := r.Note(until); err != nil {
		r.Log.Warn(fmt.Sprintf("it could not be noted that the host waits for reporter %s: %v", r.Name, err))
	}
}

func (r *Subscriber) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	r.ready.Broadcast()
}

// HostReporter is one of the host's own reporters: an error ends it.
type HostReporter struct{ report.Reporter }

// Report implements Reportee.
func (o HostReporter) Report(_ context.Context, events []view.Event) error {
	return o.Reporter.Report(events)
}

// Revive implements Reportee.
func (o HostReporter) Revive(_ context.Context, failure error) (uint64, error) { return 0, failure }
