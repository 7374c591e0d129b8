// Package inbox is what has happened and waits for the loop. Whoever drives a
// plugin or a trial posts to it, in any goroutine; the loop alone takes. What goes
// the other way is host/queue.
package inbox

import (
	"sync"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// News is what the loop is told: an event of the core, a result whose metrics
// still have their names, or somebody who wants to see the machine.
type News struct {
	Event  core.Event
	Result *Result
	Query  func(*core.Machine)
}

// Result is a report as a trainable made it.
type Result struct {
	Trial   core.TrialNo
	Attempt uint32
	sdk.Result
}

// Inbox collects news until the loop has time for them.
type Inbox struct {
	mu     sync.Mutex
	items  []News
	signal chan struct{}
	closed bool
}

// New is an empty inbox.
func New() *Inbox { return &Inbox{signal: make(chan struct{}, 1)} }

// Post adds events, all of which will be recorded together.
func (b *Inbox) Post(events ...core.Event) {
	var few [4]News
	items := few[:0]
	for _, e := range events {
		items = append(items, News{Event: e})
	}
	b.Add(items)
}

// PostResult adds a report.
func (b *Inbox) PostResult(r *Result) { b.Add([]News{{Result: r}}) }

// Add adds what will be handled together.
func (b *Inbox) Add(items []News) {
	b.mu.Lock()
	if !b.closed {
		b.items = append(b.items, items...)
	}
	b.mu.Unlock()
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// Signal is sent to when there may be something to take.
func (b *Inbox) Signal() <-chan struct{} { return b.signal }

// Take returns what there is, in order, and leaves spare, which nobody uses any
// more, to be filled next. With nothing to return it leaves spare alone.
func (b *Inbox) Take(spare []News) []News {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	if len(items) == 0 {
		return nil
	}
	b.items = spare[:0]
	return items
}

// Close drops whatever still comes.
func (b *Inbox) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.items = true, nil
}
