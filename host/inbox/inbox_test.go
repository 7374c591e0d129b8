package inbox

import (
	"testing"

	"github.com/tunehost/tunehost/core"
)

// Taken items do not change when more are posted, even after takes that returned nothing.
func TestInboxKeepsWhatWasTaken(t *testing.T) {
	b := New()
	var spare []Item
	for round := range uint32(5) {
		for range round {
			if got := b.Take(spare); got != nil {
				t.Fatalf("took %v from an empty inbox", got)
			}
		}
		b.Post(&core.NodeLeft{ID: round})
		batch := b.Take(spare)
		b.Post(&core.NodeLeft{ID: 99})
		if id := batch[0].Event.(*core.NodeLeft).ID; len(batch) != 1 || id != round {
			t.Fatalf("round %d: took %d items, the first is %d", round, len(batch), id)
		}
		spare = b.Take(batch)
	}
}

// Reports that are put wait for Flush, also in a loop that waits for items.
func TestPutWaitsForFlush(t *testing.T) {
	b := New()
	b.PutResult(&Result{Trial: 1})
	b.PutResult(&Result{Trial: 2})
	select {
	case <-b.Signal():
		t.Fatal("woken before Flush")
	default:
	}
	b.Flush()
	<-b.Signal()
	if got := b.Take(nil); len(got) != 2 || got[0].Result.Trial != 1 || got[1].Result.Trial != 2 {
		t.Errorf("took %v", got)
	}
}
