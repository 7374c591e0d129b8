package tpe

import (
	"cmp"
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// ladder ranks trials by one loss, equal ones by age. It keeps those that may become one of the
// best.
type ladder struct {
	rungs []rung // best first, at most maxRungs
	total int
}

// maxRungs leaves room for good trials that get worse again.
const maxRungs = 4 * maxGood

type rung struct {
	loss  float64
	trial int
}

func compareRungs(a, b rung) int {
	return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.trial, b.trial))
}

func (l *ladder) add(trial int, losses []float64) {
	l.total++
	r := rung{losses[0], trial}
	at, _ := slices.BinarySearchFunc(l.rungs, r, compareRungs)
	if at == maxRungs {
		return
	}
	if len(l.rungs) == maxRungs {
		l.rungs = l.rungs[:maxRungs-1]
	}
	l.rungs = slices.Insert(l.rungs, at, r)
}

func (l *ladder) remove(trial int, losses []float64) {
	l.total--
	at, found := slices.BinarySearchFunc(l.rungs, rung{losses[0], trial}, compareRungs)
	if found {
		l.rungs = slices.Delete(l.rungs, at, at+1)
	}
}

func (l *ladder) size() int { return l.total }

// best weighs the trial of rank r (from 0; equal losses have the first rank) among k by ln(k+1) -
// ln(r+1), as evolution strategies do.
func (l *ladder) best(k int) (trials []int, weights []float64) {
	k = min(k, len(l.rungs))
	sum, rank := 0.0, 0
	for i, r := range l.rungs[:k] {
		if r.loss != l.rungs[rank].loss {
			rank = i
		}
		w := portable.Log(float64(k+1) / float64(rank+1))
		trials, weights, sum = append(trials, r.trial), append(weights, w), sum+w
	}
	for i := range weights {
		weights[i] *= float64(k) / sum
	}
	return trials, weights
}
