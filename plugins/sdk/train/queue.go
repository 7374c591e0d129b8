package train

import (
	"io"
	"sync"
)

// maxQueued bounds the events that wait for the carrier, so that a trainable
// that logs without pause waits instead of filling the memory.
const maxQueued = 8192

// queue hands events of many runs to one carrier, all that wait at a time.
type queue struct {
	mu     sync.Mutex
	change sync.Cond
	items  []Event
	spare  []Event // the slice that the carrier had last, to be filled again
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.change.L = &q.mu
	return q
}

// push appends an event, waiting while the queue is full. After close it drops
// what comes.
func (q *queue) push(e Event) {
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

// drain waits for events and returns all there are; io.EOF after close. The
// slice is valid until the next call.
func (q *queue) drain() ([]Event, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.change.Wait()
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

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}
