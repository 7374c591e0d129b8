package view

import (
	"context"
	"sync"
)

// mostFed is the approximate memory for the events of a Feed, in bytes.
const mostFed = 16 << 20

// Feed keeps the last events of an experiment that a host runs, for readers that continue from a
// number: see [Follower]. Events are put into it once their record is safe. It never waits for a
// reader, and is safe for concurrent use.
type Feed struct {
	mu     sync.Mutex
	events []Event
	weight int
	// gone is the last event that it has dropped or never had; last is the newest event.
	gone, last uint64
	more       chan struct{} // closed when there is more
	over       bool
}

// NewFeed returns an empty feed: events up to begun are only in the record.
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

// forget drops the older half of the events if there are too many.
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

// Last returns the number of the newest event.
func (f *Feed) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Await returns immediately: the host does not wait for readers.
func (f *Feed) Await(context.Context) {}

// Since returns some of the events after one. If the next of them are only in the record, it returns none, and through
// is the last of those.
func (f *Feed) Since(after uint64) (events []Event, through uint64) {
	return f.since(after, mostEvents)
}

// since is Since with at most so many events.
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

// Changed returns a channel that is closed when there are events after one, or when there will be no
// more.
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

// Weigh returns the approximate memory of events, in bytes.
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

// Follower reads events from a number on, each once and in order. It is for one goroutine.
type Follower struct {
	open  func() (*EventLog, error)
	feed  *Feed // nil: read the record only
	after uint64
	log   *EventLog // nil while the feed has all events
}

// Follow reads the events after a number. feed is the feed of the host, if it runs in this process; else
// nil.
func (e *Experiment) Follow(after uint64, feed *Feed) *Follower {
	return &Follower{feed: feed, after: after, open: func() (*EventLog, error) {
		h, err := e.source.Past()
		if err != nil {
			return nil, err
		}
		return NewEventLog(e.Facts, h), nil
	}}
}

// After returns the number of the last event that was read.
func (f *Follower) After() uint64 { return f.after }

// Next returns the events that exist now, some of them at a time; none: there are no more yet.
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

// Close closes the record; the Follower can continue.
func (f *Follower) Close() {
	if f.log != nil {
		f.log.Close()
		f.log = nil
	}
}
