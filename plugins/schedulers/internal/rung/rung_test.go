package rung

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sorted is the slow and simple second implementation.
type sorted struct {
	factor, floor int
	all           []entry
	in            map[uint32]bool
}

func (s *sorted) add(loss float64, trial uint32) (entered []uint32) {
	s.all = append(s.all, entry{loss, trial, uint32(len(s.all) + 1)})
	slices.SortStableFunc(s.all, func(a, b entry) int { return cmp.Compare(a.loss, b.loss) })
	now := map[uint32]bool{}
	for _, e := range s.all[:s.best()] {
		now[e.trial] = true
		if !s.in[e.trial] {
			entered = append(entered, e.trial)
		}
	}
	s.in = now
	return entered
}

func (s *sorted) best() int {
	n := len(s.all)
	return min(n, max(s.floor, n/s.factor))
}

func TestRungAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factor, floor := rapid.IntRange(1, 5).Draw(t, "factor"), rapid.IntRange(0, 1).Draw(t, "floor")
		fast, slow := New(factor, floor), &sorted{factor: factor, floor: floor}
		// Use few different values, so that there are ties.
		losses := rapid.SliceOfN(rapid.SampledFrom([]float64{-2, -1, 0, 1, 2, 3, 4, math.Inf(1)}), 1, 60).Draw(t,
			"losses")
		for i, loss := range losses {
			trial, ok := fast.Add(loss, uint32(i))
			compare(t, &fast, slow, slow.add(loss, uint32(i)), trial, ok)
		}
	})
}

func compare(t *rapid.T, fast *Rung, slow *sorted, want []uint32, trial uint32, ok bool) {
	if len(want) > 1 || ok != (len(want) == 1) || ok && trial != want[0] {
		t.Fatalf("entered %v (%v), want %v", trial, ok, want)
	}
	k := slow.best()
	if fast.Len() != len(slow.all) || fast.Best() != k {
		t.Fatalf("best %d of %d, want %d of %d", fast.Best(), fast.Len(), k, len(slow.all))
	}
	if cut, ok := fast.Cut(); ok != (k > 0) || ok && cut != slow.all[k-1].loss {
		t.Fatalf("cut %v (%v)", cut, ok)
	}
	if next, ok := fast.Next(); ok != (k < len(slow.all)) || ok && next != slow.all[k].loss {
		t.Fatalf("next %v (%v)", next, ok)
	}
}
