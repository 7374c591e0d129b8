package command

import (
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// maxQueued is the maximum number of waiting results; a program that prints more is not read from
// until there is room.
const maxQueued = 10_000

// An item is a result for the host. answer receives the decision, if somebody waits for it.
type item struct {
	result sdk.Result
	answer chan<- channel.Decision
}

// A queue holds results in order. Results that somebody waits for always have room: there are at
// most as many as connections.
type queue struct {
	mu     sync.Mutex
	filled sync.Cond // there is an item, or no more will come
	taken  sync.Cond // there is room
	items  []item
	limit  int
	closed bool
	held   bool // a push is waiting
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.filled.L, q.taken.L = &q.mu, &q.mu
	return q
}

// push appends an item, and blocks until there is room if nobody waits for it. full is called
// before it blocks.
func (q *queue) push(it item, full func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for it.answer == nil && len(q.items) >= q.limit && !q.closed {
		if !q.held {
			q.held = true
			full()
		}
		q.taken.Wait()
	}
	q.held = false
	q.items = append(q.items, it)
	q.filled.Signal()
}

// holds reports whether a program is blocked now.
func (q *queue) holds() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}

// pop waits for an item; it returns false after close, when all are taken.
func (q *queue) pop() (item, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.filled.Wait()
	}
	if len(q.items) == 0 {
		return item{}, false
	}
	it := q.items[0]
	q.items[0] = item{}
	q.items = q.items[1:]
	q.taken.Signal()
	return it, true
}

// close records that nothing more will be pushed.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.filled.Broadcast()
	q.taken.Broadcast()
}
