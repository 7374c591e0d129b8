package evolve

import (
	"cmp"
	"math"
	"slices"
)

// A member is a trial that was compared, with its loss.
type member struct {
	loss  float64
	trial uint32
}

func compare(a, b member) int {
	return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.trial, b.trial))
}

// A population has its trials sorted, the best first.
type population []member

// add inserts the member and returns its rank, from 0.
func (p *population) add(m member) int {
	i, _ := slices.BinarySearchFunc(*p, m, compare)
	*p = slices.Insert(*p, i, m)
	return i
}

func (p *population) remove(m member) {
	if i, ok := slices.BinarySearchFunc(*p, m, compare); ok {
		*p = slices.Delete(*p, i, i+1)
	}
}

// edge returns how many trials count as worst, and as best.
func (p population) edge(quantile float64) int {
	// The small amount handles products such as 0.07·100, just above 7.
	k := int(math.Ceil(float64(len(p))*quantile - 1e-9))
	return min(k, len(p)/2)
}

// worst reports whether the rank is one of the last k.
func (p population) worst(rank, k int) bool {
	return rank >= len(p)-k || math.IsInf(p[rank].loss, 1)
}
