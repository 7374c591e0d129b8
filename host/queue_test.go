package host

import (
	"sync"
	"testing"
)

// All items arrive, in order, whatever the batches; a batch is valid until the
// next one is taken.
func TestQueueKeepsOrder(t *testing.T) {
	q := newQueue[int]()
	var putting sync.WaitGroup
	putting.Go(func() {
		for i := range 100_000 {
			q.put(i)
			if i%7 == 0 {
				q.flush()
			}
		}
		q.close()
	})
	next := 0
	for {
		items, ok := q.take()
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
