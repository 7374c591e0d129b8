package moasha

import (
	"slices"
	"sort"
)

// layers are the vectors recorded at a rung: those of a layer are dominated by one of the previous
// layer, and by none of their own or a later one.
type layers []layer

// No vector of a layer dominates another; they are in the order of compare. With two losses the
// second decreases as the first increases, so binary search applies.
type layer []vector

// A vector has a trial's losses; smaller is better; no NaN.
type vector []float64

func compare(a, b vector) int { return slices.Compare(a, b) }

// dominates reports whether a is better than b in one loss and worse in none.
func (a vector) dominates(b vector) bool {
	better := false
	for i := range a {
		if a[i] > b[i] {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}

// dominates reports whether one of the layer dominates v.
func (l layer) dominates(v vector) bool {
	if len(v) != 2 {
		return slices.ContainsFunc(l, func(w vector) bool { return w.dominates(v) })
	}
	// Of those not worse in the first loss, the last is best in the second.
	i := sort.Search(len(l), func(i int) bool { return l[i][0] > v[0] })
	return i > 0 && l[i-1].dominates(v)
}

// window returns the range of indices that coming may dominate.
func (l layer) window(coming layer) (from, to int) {
	if len(coming[0]) != 2 {
		return 0, len(l)
	}
	first, last := coming[0][0], coming[len(coming)-1][1]
	from = sort.Search(len(l), func(i int) bool { return l[i][0] >= first })
	to = sort.Search(len(l), func(i int) bool { return l[i][1] < last })
	return from, max(from, to)
}

// meet inserts the vectors of coming, and returns those that they displace.
func (l *layer) meet(coming layer) (leave layer) {
	from, to := l.window(coming)
	mixed := slices.Clone(coming)
	for _, w := range (*l)[from:to] {
		if coming.dominates(w) {
			leave = append(leave, w)
		} else {
			mixed = append(mixed, w)
		}
	}
	slices.SortStableFunc(mixed, compare)
	*l = slices.Replace(*l, from, to, mixed...)
	return leave
}

// under reports whether one of coming dominates each of the layer.
func (l layer) under(coming layer) bool {
	return !slices.ContainsFunc(l, func(w vector) bool { return !coming.dominates(w) })
}

// add inserts v into its layer, which it returns, and moves the vectors that it displaces (Li, Deb,
// Zhang, Kwong, "Efficient Nondomination Level Update Method for Steady-State Evolutionary
// Multiobjective Optimization", 2017).
func (l *layers) add(v vector) int {
	// The previous layer dominates everything that a layer dominates.
	at := sort.Search(len(*l), func(i int) bool { return !(*l)[i].dominates(v) })
	moving := layer{v}
	for i := at; len(moving) > 0; i++ {
		if i == len(*l) || (*l)[i].under(moving) {
			*l = slices.Insert(*l, i, moving)
			break
		}
		moving = (*l)[i].meet(moving)
	}
	return at
}

// before returns the number of vectors in the layers before number k.
func (l layers) before(k int) (n int) {
	for _, group := range l[:k] {
		n += len(group)
	}
	return n
}
