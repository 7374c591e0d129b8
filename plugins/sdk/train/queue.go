package train

import (
	"io"
	"runtime"
	"sync"
)

// maxQueued bounds the number of queued events, so that a trainable that logs without pause blocks
// instead of filling the memory.
const maxQueued = 8192

// A Queue passes events of many runs to one consumer, all waiting events at a time.
type Queue struct {
	mu     sync.Mutex
	change sync.Cond
	items  []Event
	spare  []Event // the previous slice of the consumer, to be reused
	closed bool
}

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	q := &Queue{}
	q.change.L = &q.mu
	return q
}

// Push appends an event and blocks while the queue is full. After close it drops events.
func (q *Queue) Push(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) >= maxQueued && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return
	}
	q.items = append(q.items, e)
	if len(q.items) == 1 {
		q.change.Broadcast()
	}
}

// Drain waits for events and returns all of them; io.EOF after close. The slice is valid until the
// next call.
func (q *Queue) Drain() ([]Event, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.change.Wait()
		q.gather()
	}
	if len(q.items) == 0 {
		return nil, io.EOF
	}
	out := q.items
	clear(q.spare)
	q.items, q.spare = q.spare[:0], out
	if len(out) >= maxQueued {
		q.change.Broadcast()
	}
	return out, nil
}

// Bounds of gather: how often in a row it yields in vain, and how often at all.
const (
	vainYields = 4
	maxYields  = 64
)

// gather lets runs that were answered together report in one message: it lets other goroutines run as
// long as they push more events. It never sleeps. It needs q.mu.
func (q *Queue) gather() {
	for all, vain := 0, 0; all < maxYields && vain < vainYields; all++ {
		before := len(q.items)
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
		vain++
		if len(q.items) > before {
			vain = 0
		}
	}
}

// Close ends the queue: what is in it can still be drained.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}
