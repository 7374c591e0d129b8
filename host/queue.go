package host

import "sync"

// queue hands items from the loop to one goroutine, which takes all that wait
// at once. The loop never waits for it.
type queue[T any] struct {
	mu     sync.Mutex
	ready  sync.Cond
	items  []T
	spare  []T // what the taker had last, to be filled again
	closed bool
}

// maxSpare keeps what one flood has made from being kept for ever.
const maxSpare = 1 << 14

func newQueue[T any]() *queue[T] {
	q := &queue[T]{}
	q.ready.L = &q.mu
	return q
}

// put adds items without waking the taker; flush does.
func (q *queue[T]) put(item T) {
	q.mu.Lock()
	q.items = append(q.items, item)
	q.mu.Unlock()
}

func (q *queue[T]) flush() { q.ready.Signal() }

// take waits for items and returns them all; false after close. The slice is
// valid until the next call.
func (q *queue[T]) take() ([]T, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.ready.Wait()
	}
	items := q.swap()
	return items, len(items) > 0
}

// poll is take without the wait.
func (q *queue[T]) poll() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return nil
	}
	return q.swap()
}

// swap gives away what there is, and fills next what was given away before.
func (q *queue[T]) swap() []T {
	items := q.items
	clear(q.spare)
	q.items, q.spare = q.spare[:0], items
	if cap(items) > maxSpare {
		q.spare = nil
	}
	return items
}

// empty says that nothing waits now.
func (q *queue[T]) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) == 0
}

func (q *queue[T]) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.ready.Broadcast()
}
