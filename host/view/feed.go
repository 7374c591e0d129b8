package view

import (
	"context"
	"sync"
)

// mostFed is how much memory the events of a Feed take, in bytes, roughly.
const mostFed = 16 << 20

// Feed keeps the last events of an experiment that a host runs, for those who read on from
// a number: see [Follower]. It is told events once the record of them is safe, and never
// waits for a reader. Any number of goroutines may use it.
type Feed struct {
	mu     sync.Mutex
	events []Event
	weight int
	// gone is the last event that it does not have any more, or never had; last is the
	// last one that may be read.
	gone, last uint64
	more       chan struct{} // closed when there is more
	over       bool
}

// NewFeed has nothing yet: events up to one are in the record alone.
func NewFeed(begun uint64) *Feed { return &Feed{gone: begun, last: begun, more: make(chan struct{})} }

// Put adds events that are safe in the record.
func (f *Feed) Put(events []Event) {
	if len(events) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, events...)
	f.last = max(f.last, events[len(events)-1].Number)
	f.weight += Weigh(events)
	f.forget()
	f.wake()
}

// forget drops the oldest events where there are too many, half of them at a time.
func (f *Feed) forget() {
	if f.weight <= mostFed {
		return
	}
	n := (len(f.events) + 1) / 2
	f.gone = max(f.gone, f.events[n-1].Number)
	f.events = append([]Event(nil), f.events[n:]...)
	f.weight = Weigh(f.events)
}

func (f *Feed) wake() {
	close(f.more)
	f.more = make(chan struct{})
}

// End says that there will be no more events.
func (f *Feed) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		f.over = true
		f.wake()
	}
}

// Await returns at once: nobody waits for readers.
func (f *Feed) Await(context.Context) {}

// since are at most so many events after one. Where some of them are in the record alone,
// there are none, and through is the last of those.
func (f *Feed) since(after uint64, most int) (events []Event, through uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if after < f.gone {
		return nil, f.gone
	}
	for i := range f.events {
		if f.events[i].Number > after {
			rest := f.events[i:]
			return append([]Event(nil), rest[:min(most, len(rest))]...), 0
		}
	}
	return nil, 0
}

// Changed is closed when there are events after one, or will be none any more.
func (f *Feed) Changed(after uint64) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over || f.last > after {
		c := make(chan struct{})
		close(c)
		return c
	}
	return f.more
}

// Weigh is about how much memory events take, in bytes.
func Weigh(events []Event) (bytes int) {
	for i := range events {
		e := &events[i]
		bytes += 250 + len(e.Trial.Params) + len(e.Reason) + len(e.Trial.Error)
		if e.Result != nil {
			bytes += 150 + 24*(len(e.Result.Metrics)+len(e.Result.Totals))
		}
	}
	return bytes
}

// Follower reads events on from a number, each once and in order. It is for one goroutine.
type Follower struct {
	open  func() (*EventLog, error)
	feed  *Feed // nil: all is in the record
	after uint64
	log   *EventLog // nil while the feed has all
}

// Follow reads the events after one. feed is that of the host in this process that runs the
// experiment; nil: none does.
func (e *Experiment) Follow(after uint64, feed *Feed) *Follower {
	return &Follower{feed: feed, after: after, open: func() (*EventLog, error) {
		h, err := e.source.Past()
		if err != nil {
			return nil, err
		}
		return NewEventLog(e.Facts, h), nil
	}}
}

// After is the last event that was read.
func (f *Follower) After() uint64 { return f.after }

// Next returns the events that there are now, some of them at a time; none: there are no
// more yet.
func (f *Follower) Next(ctx context.Context) (events []Event, err error) {
	if f.feed == nil {
		events, err = f.read(func(l *EventLog) ([]Event, error) { return l.Rest(ctx, f.after) })
	} else if recent, through := f.feed.since(f.after, mostEvents); through > 0 {
		events, err = f.read(func(l *EventLog) ([]Event, error) { return l.Next(ctx, f.after, through) })
	} else {
		events = recent
		f.Close()
	}
	if len(events) > 0 {
		f.after = events[len(events)-1].Number
	}
	return events, err
}

func (f *Follower) read(next func(*EventLog) ([]Event, error)) (events []Event, err error) {
	if f.log == nil {
		if f.log, err = f.open(); err != nil {
			f.log = nil
			return nil, without(err)
		}
	}
	return next(f.log)
}

// Close lets go of the record; the Follower can go on.
func (f *Follower) Close() {
	if f.log != nil {
		f.log.Close()
		f.log = nil
	}
}
