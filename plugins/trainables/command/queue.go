package command

import (
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// maxQueued is how many printed results wait for the host at most.
const maxQueued = 10_000

// item is a result on its way to the host. answer takes the decision, where
// somebody waits for it.
type item struct {
	result sdk.Result
	answer chan<- channel.Decision
}

// queue holds results in order. Those that somebody waits for are never
// dropped: there are as many as there are connections.
type queue struct {
	mu     sync.Mutex
	wake   sync.Cond
	items  []item
	limit  int
	closed bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.wake.L = &q.mu
	return q
}

// push adds an item; dropped says that another had to go for it.
func (q *queue) push(it item) (dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) >= q.limit {
		dropped = q.drop()
	}
	q.items = append(q.items, it)
	q.wake.Signal()
	return dropped
}

// drop forgets the oldest item without a checkpoint that nobody waits for, or
// the oldest that nobody waits for.
func (q *queue) drop() bool {
	oldest := -1
	for i, it := range q.items {
		if it.answer != nil {
			continue
		}
		if it.result.Checkpoint == "" {
			q.remove(i)
			return true
		}
		if oldest < 0 {
			oldest = i
		}
	}
	if oldest >= 0 {
		q.remove(oldest)
	}
	return oldest >= 0
}

func (q *queue) remove(i int) {
	if i == 0 {
		q.items[0] = item{}
		q.items = q.items[1:]
		return
	}
	q.items = append(q.items[:i], q.items[i+1:]...)
}

// pop waits for an item; false after close, when all are gone.
func (q *queue) pop() (item, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.wake.Wait()
	}
	if len(q.items) == 0 {
		return item{}, false
	}
	it := q.items[0]
	q.remove(0)
	return it, true
}

// close says that nothing will be pushed any more.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wake.Broadcast()
}
