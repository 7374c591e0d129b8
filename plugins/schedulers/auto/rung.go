package auto

import (
	"cmp"
	"iter"
	"slices"

	milestones "github.com/tunehost/tunehost/plugins/schedulers/internal/rung"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// recent is the number of trials that a rung remembers, and ended that of those with a final loss:
// the latest, since a searcher's trials change while it learns.
const recent, ended = 1000, 200

// at are the iterations of the rungs.
var at = milestones.Ladder(1, sdk.MaxIteration, 3)

// A rung has the trials that reached an iteration.
type rung struct {
	arrived []float64 // losses in the order of arrival, the latest
	sorted  []float64 // the same in ascending order
	pairs   []pair    // of those that have ended, the latest
}

// A pair has a trial's loss at the rung and its last one.
type pair struct{ early, final float64 }

func (r *rung) arrive(loss float64) {
	if len(r.arrived) == recent {
		i, _ := slices.BinarySearch(r.sorted, r.arrived[0])
		r.arrived, r.sorted = slices.Delete(r.arrived, 0, 1), slices.Delete(r.sorted, i, i+1)
	}
	i, _ := slices.BinarySearch(r.sorted, loss)
	r.arrived, r.sorted = append(r.arrived, loss), slices.Insert(r.sorted, i, loss)
}

func (r *rung) learn(early, final float64) {
	if len(r.pairs) == ended {
		r.pairs = slices.Delete(r.pairs, 0, 1)
	}
	r.pairs = append(r.pairs, pair{early, final})
}

// best returns how many of the trials are the best share of them, at least one, and the worst loss
// of these.
func (r *rung) best(share float64) (n int, cut float64) {
	n = max(1, int(float64(share*float64(len(r.sorted)))))
	return n, r.sorted[n-1]
}

// place returns twice the middle place of the loss among the trials at the rung.
func (r *rung) place(loss float64) int {
	first, _ := slices.BinarySearch(r.sorted, loss)
	after, _ := slices.BinarySearchFunc(r.sorted, loss, func(x, loss float64) int {
		if x <= loss {
			return -1
		}
		return 1
	})
	return first + after
}

// ranks returns twice the middle rank of each, so that ties have whole numbers too.
func ranks(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	twice := make([]int, len(x))
	for first, after := range ties(len(order), func(i, j int) bool { return x[order[i]] == x[order[j]] }) {
		for _, i := range order[first:after] {
			twice[i] = first + after
		}
	}
	return twice
}

// ties returns the beginning and the end of each run of equal ones among n in order.
func ties(n int, equal func(i, j int) bool) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for first := 0; first < n; {
			after := first + 1
			for after < n && equal(first, after) {
				after++
			}
			if !yield(first, after) {
				return
			}
			first = after
		}
	}
}
