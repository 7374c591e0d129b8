package command

import (
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// maxQueued is how many results wait for the host before a program that prints more is
// held up: it is not read from until there is room.
const maxQueued = 10_000

// item is a result on its way to the host. answer takes the decision, where
// somebody waits for it.
type item struct {
	result sdk.Result
	answer chan<- channel.Decision
}

// queue holds results in order. Results that somebody waits for always have room: there
// are as many as there are connections.
type queue struct {
	mu     sync.Mutex
	filled sync.Cond // there is an item, or no more will come
	taken  sync.Cond // there is room
	items  []item
	limit  int
	closed bool
	held   bool // a push waits
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.filled.L, q.taken.L = &q.mu, &q.mu
	return q
}

// push adds an item, once there is room for one that nobody waits for. full is called
// before it waits for that.
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

// holds says that a program is held up now.
func (q *queue) holds() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}

// pop waits for an item; false after close, when all are gone.
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

// close says that nothing will be pushed any more.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.filled.Broadcast()
	q.taken.Broadcast()
}
