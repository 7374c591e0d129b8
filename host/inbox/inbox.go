// Package inbox collects what has happened for the loop. Drivers of plugins and trials post to it, in
// any goroutine; only the loop takes. Package queue is the other direction.
package inbox

import (
	"errors"
	"sync"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Item is what the loop handles: an event of the core, a result whose metrics still have their names, or a query of
// the machine.
type Item struct {
	Event  core.Event
	Result *Result
	Query  func(*core.Machine)
	// Claim is there if somebody waits for the event to be recorded, and gives up after a while.
	Claim *Claim
}

// Claim is what somebody wants who waits for an event.
type Claim struct {
	// Open reports whether they still wait. What they have given up is not recorded later.
	Open func() bool
	// Refused is called in the place of recording the event: nobody waits any more, or the disk is full.
	Refused func(error)
}

// ErrGivenUp refuses an event for which nobody waits any more.
var ErrGivenUp = errors.New("nobody waits for this event any more")

// Result is a report as a trainable made it.
type Result struct {
	Trial   core.TrialNo
	Attempt uint32
	sdk.Result
}

// Inbox collects items until the loop takes them.
type Inbox struct {
	mu     sync.Mutex
	items  []Item
	signal chan struct{}
	closed bool
}

// New returns an empty inbox.
func New() *Inbox { return &Inbox{signal: make(chan struct{}, 1)} }

// Post adds events, which will be recorded together.
func (b *Inbox) Post(events ...core.Event) {
	var few [4]Item
	items := few[:0]
	for _, e := range events {
		items = append(items, Item{Event: e})
	}
	b.Add(items)
}

// PostResult adds a report.
func (b *Inbox) PostResult(r *Result) { b.Add([]Item{{Result: r}}) }

// PutResult adds a report without waking the loop; Flush does. Reports that arrived in one message are
// recorded together that way.
func (b *Inbox) PutResult(r *Result) { b.put(Item{Result: r}) }

// Add adds items that will be handled together.
func (b *Inbox) Add(items []Item) {
	b.put(items...)
	b.Flush()
}

func (b *Inbox) put(items ...Item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.items = append(b.items, items...)
	}
}

// Flush wakes the loop.
func (b *Inbox) Flush() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// Signal is sent to when there may be something to take.
func (b *Inbox) Signal() <-chan struct{} { return b.signal }

// Take returns the items, in order. It uses spare, which the caller gives up, for later ones. If there
// are no items, it leaves spare alone.
func (b *Inbox) Take(spare []Item) []Item {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	if len(items) == 0 {
		return nil
	}
	b.items = spare[:0]
	return items
}

// Close drops all later items.
func (b *Inbox) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.items = true, nil
}
