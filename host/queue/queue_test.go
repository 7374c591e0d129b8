package queue

import (
	"sync"
	"testing"
)

// All items arrive, in order, in any batches; a batch is valid until the next one is taken.
func TestQueueKeepsOrder(t *testing.T) {
	q := New[int]()
	var putting sync.WaitGroup
	putting.Go(func() {
		for i := range 100_000 {
			q.Put(i)
			if i%7 == 0 {
				q.Flush()
			}
		}
		q.Close()
	})
	next := 0
	for {
		items, ok := q.Take()
		if !ok {
			break
		}
		for _, i := range items {
			if i != next {
				t.Fatalf("got %d, want %d", i, next)
			}
			next++
		}
	}
	putting.Wait()
	if next != 100_000 {
		t.Errorf("%d items arrived", next)
	}
}

// A flush without items wakes nobody, and one with items does.
func TestFlushWithoutWork(t *testing.T) {
	q := New[int]()
	took := make(chan []int)
	go func() {
		items, _ := q.Take()
		took <- items
	}()
	q.Flush()
	q.Put(1)
	q.Put(2)
	q.Flush()
	if items := <-took; len(items) == 0 {
		t.Error("took nothing")
	}
}
