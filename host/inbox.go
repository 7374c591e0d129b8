package host

import (
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// news is what the loop is told: an event of the core, a result whose metrics
// still have their names, or somebody who wants to see the machine.
type news struct {
	event  core.Event
	result *result
	query  func(*core.Machine)
}

// result is a report as a trainable made it.
type result struct {
	trial   core.TrialNo
	attempt uint32
	sdk.Result
}

// inbox collects news until the loop has time for them.
type inbox struct {
	mu     sync.Mutex
	items  []news
	signal chan struct{}
	closed bool
	// behind is since when there has always been more.
	behind time.Time
}

func newInbox() *inbox { return &inbox{signal: make(chan struct{}, 1)} }

// post adds events, all of which will be recorded together.
func (b *inbox) post(events ...core.Event) {
	var few [4]news
	items := few[:0]
	for _, e := range events {
		items = append(items, news{event: e})
	}
	b.add(items)
}

func (b *inbox) postResult(r *result) { b.add([]news{{result: r}}) }

func (b *inbox) add(items []news) {
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

// take returns what there is, in order, and leaves spare, which nobody uses any
// more, to be filled next. With nothing to return it leaves spare alone.
func (b *inbox) take(spare []news) []news {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	if len(items) == 0 {
		return nil
	}
	b.items = spare[:0]
	return items
}

// close drops whatever still comes.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.items = true, nil
}
