package inbox

import (
	"testing"

	"github.com/tunehost/tunehost/core"
)

// What is taken must not change when more is posted, however often nothing was
// taken before.
func TestInboxKeepsWhatWasTaken(t *testing.T) {
	b := New()
	var spare []News
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
