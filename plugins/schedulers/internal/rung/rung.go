// Package rung stores the losses recorded at one rung and tracks which of them are among the best
// fraction, for schedulers that compare trials at milestones.
//
// Two heaps meet at the boundary between the best and the rest. Losses are only added, so the
// number of the best only grows, and each addition moves at most one loss over the boundary: O(log
// n) per loss, with 16 bytes each.
package rung

import "iter"

// An entry is a recorded loss. Equal losses are ordered by their arrival.
type entry struct {
	loss  float64
	trial uint32
	seq   uint32
}

func (e entry) before(o entry) bool {
	return e.loss < o.loss || e.loss == o.loss && e.seq < o.seq
}

// A Rung holds losses; the best of n are max(floor, n/factor) of them, rounded down. Create one
// with [New].
type Rung struct {
	factor, floor int
	best          worstFirst
	rest          bestFirst
}

// New returns an empty rung. factor is at least 1; floor is the minimum number of best losses (but
// never more than there are).
func New(factor, floor int) Rung {
	return Rung{factor: factor, floor: floor}
}

// Add records a loss, which must not be NaN. It returns the trial that became one of the best,
// which may be another one: when the number of the best grows, the best of the rest moves up.
func (r *Rung) Add(loss float64, trial uint32) (entered uint32, ok bool) {
	n := r.Len() + 1
	e := entry{loss: loss, trial: trial, seq: uint32(n)}
	switch {
	case len(r.best) < min(n, max(r.floor, n/r.factor)):
		if len(r.rest) > 0 && r.rest[0].before(e) {
			e = r.rest.replace(e)
		}
		r.best.push(e)
		return e.trial, true
	case len(r.best) > 0 && e.before(r.best[0]):
		r.rest.push(r.best.replace(e))
		return trial, true
	}
	r.rest.push(e)
	return 0, false
}

// All returns the trials and their losses, in no order.
func (r *Rung) All() iter.Seq2[uint32, float64] {
	return func(yield func(uint32, float64) bool) {
		for _, part := range [][]entry{r.best, r.rest} {
			for _, e := range part {
				if !yield(e.trial, e.loss) {
					return
				}
			}
		}
	}
}

// Len returns the number of losses.
func (r *Rung) Len() int { return len(r.best) + len(r.rest) }

// Best returns the number of best losses.
func (r *Rung) Best() int { return len(r.best) }

// Cut returns the worst of the best losses. ok is false if there are none.
func (r *Rung) Cut() (loss float64, ok bool) {
	if len(r.best) == 0 {
		return 0, false
	}
	return r.best[0].loss, true
}

// Next returns the best loss of the rest. ok is false if there is none.
func (r *Rung) Next() (loss float64, ok bool) {
	if len(r.rest) == 0 {
		return 0, false
	}
	return r.rest[0].loss, true
}
