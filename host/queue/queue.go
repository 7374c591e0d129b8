// Package queue passes work from one goroutine to another: from the loop to each driver of a plugin.
// Package inbox is the other direction.
package queue

import "sync"

// Queue passes items from the loop to one goroutine, which takes all waiting items at once. The loop
// never waits for it.
type Queue[T any] struct {
	mu     sync.Mutex
	ready  sync.Cond
	items  []T
	spare  []T // the taker's last slice, to be reused
	closed bool
}

// maxSpare limits the capacity that is kept after a burst.
const maxSpare = 1 << 14

// New returns an empty queue.
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

// Flush wakes the taker if there is something to take.
func (q *Queue[T]) Flush() {
	if !q.Empty() {
		q.ready.Signal()
	}
}

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

// swap returns the items, and reuses the slice that was returned before.
func (q *Queue[T]) swap() []T {
	items := q.items
	clear(q.spare)
	q.items, q.spare = q.spare[:0], items
	if cap(items) > maxSpare {
		q.spare = nil
	}
	return items
}

// Empty reports that no item waits.
func (q *Queue[T]) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) == 0
}

// Close lets the taker take the remaining items, and no more.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.ready.Broadcast()
}
