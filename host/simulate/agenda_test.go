package simulate

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// The agenda has the earliest first, and of those at one instant the one that was planned first.
func TestAgenda(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a agenda
	var want []*runningAttempt
	for order := range uint64(3000) {
		if rng.IntN(5) > 0 {
			r := &runningAttempt{at: rng.Int64N(200), order: order}
			a.push(r)
			want = append(want, r)
		}
		if len(want) > 0 && rng.IntN(3) > 0 {
			first := slices.MinFunc(want, func(r, o *runningAttempt) int {
				return cmp.Or(cmp.Compare(r.at, o.at), cmp.Compare(r.order, o.order))
			})
			if got := a.pop(); got != first {
				t.Fatalf("%d of %d comes before %d of %d", got.order, got.at, first.order, first.at)
			}
			want = slices.DeleteFunc(want, func(r *runningAttempt) bool { return r == first })
		}
		if len(a) != len(want) {
			t.Fatalf("%d are left, want %d", len(a), len(want))
		}
	}
}
