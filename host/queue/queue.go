// Package queue hands work from one goroutine to another: from the loop to each
// driver of a plugin. What goes the other way is host/inbox.
package queue

import "sync"

// Queue hands items from the loop to one goroutine, which takes all that wait
// at once. The loop never waits for it.
type Queue[T any] struct {
	mu     sync.Mutex
	ready  sync.Cond
	items  []T
	spare  []T // what the taker had last, to be filled again
	closed bool
}

// maxSpare keeps what one flood has made from being kept for ever.
const maxSpare = 1 << 14

// New is an empty queue.
func New[T any]() *Queue[T] {
	q := &Queue[T]{}
	q.ready.L = &q.mu
	return q
}

// Put adds items without waking the taker; Flush does.
func (q *Queue[T]) Put(item T) {
	q.mu.Lock()
	q.items = append(q.items, item)
	q.mu.Unlock()
}

// Flush wakes the taker.
func (q *Queue[T]) Flush() { q.ready.Signal() }

// Take waits for items and returns them all; false after Close. The slice is
// valid until the next call.
func (q *Queue[T]) Take() ([]T, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.ready.Wait()
	}
	items := q.swap()
	return items, len(items) > 0
}

// Poll is Take without the wait.
func (q *Queue[T]) Poll() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return nil
	}
	return q.swap()
}

// swap gives away what there is, and fills next what was given away before.
func (q *Queue[T]) swap() []T {
	items := q.items
	clear(q.spare)
	q.items, q.spare = q.spare[:0], items
	if cap(items) > maxSpare {
		q.spare = nil
	}
	return items
}

// Empty says that nothing waits now.
func (q *Queue[T]) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) == 0
}

// Close lets the taker take what is there, and no more after that.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.ready.Broadcast()
}
