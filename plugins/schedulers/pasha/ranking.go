package pasha

import (
	"cmp"
	"math"
	"slices"
)

// ranking has the trials at the highest open rung, with their losses there and at the rung below.
type ranking struct {
	now, before []member // each sorted by its own loss
	unknown     bool     // the loss of some trial at the rung below is unknown
}

type member struct {
	trial uint32
	// loss is the one by which the list is sorted; below is the one at the rung below.
	loss, below float64
	seq         int // if losses are equal, the earlier comes first
}

func compare(a, b member) int { return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.seq, b.seq)) }

// add records a trial with a finite loss; below is NaN if it is unknown.
func (r *ranking) add(trial uint32, loss, below float64) {
	r.unknown = r.unknown || math.IsNaN(below)
	seq := len(r.now)
	insert(&r.now, member{trial, loss, below, seq})
	insert(&r.before, member{trial, below, below, seq})
}

func insert(list *[]member, m member) {
	i, _ := slices.BinarySearchFunc(*list, m, compare)
	*list = slices.Insert(*list, i, m)
}

// stable reports whether the order is the same at both rungs, apart from trials whose losses at the
// rung below differ by at most epsilon.
func (r *ranking) stable(epsilon float64) bool {
	if r.unknown {
		return false
	}
	for i, m := range r.now {
		if math.Abs(m.below-r.before[i].loss) > epsilon {
			return false
		}
	}
	return true
}

// spacing returns the median distance between neighbours at the rung below.
func (r *ranking) spacing() float64 {
	if len(r.before) < 2 {
		return 0
	}
	gaps := make([]float64, len(r.before)-1)
	for i := range gaps {
		gaps[i] = r.before[i+1].loss - r.before[i].loss
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}
