package moasha

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// layers are the vectors recorded at a rung: those of a layer are dominated by one
// of the layer before, and by none of their own or a later one.
type layers [][]vector

// vector has a trial's losses, smaller is better, without NaN.
type vector []float64

// dominates says whether a is better than b somewhere and worse nowhere.
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

// dominated says whether one of the group dominates v.
func dominated(group []vector, v vector) bool {
	return slices.ContainsFunc(group, func(w vector) bool { return w.dominates(v) })
}

// add puts v into its layer, which it returns, and moves those that it displaces
// (Li, Deb, Zhang, Kwong, "Efficient Nondomination Level Update Method for
// Steady-State Evolutionary Multiobjective Optimization", 2017).
func (l *layers) add(v vector) int {
	// What a layer dominates, the layer before dominates as well.
	at := sort.Search(len(*l), func(i int) bool { return !dominated((*l)[i], v) })
	moving := []vector{v}
	for i := at; len(moving) > 0; i++ {
		if i == len(*l) || all((*l)[i], moving) {
			*l = slices.Insert(*l, i, moving)
			break
		}
		(*l)[i], moving = meet((*l)[i], moving)
	}
	return at
}

// all says whether each of the group is dominated by one that comes.
func all(group, coming []vector) bool {
	return !slices.ContainsFunc(group, func(w vector) bool { return !dominated(coming, w) })
}

// meet is the group with those that come, and what they displace.
func meet(group, coming []vector) (stay, leave []vector) {
	for _, w := range group {
		if dominated(coming, w) {
			leave = append(leave, w)
		} else {
			stay = append(stay, w)
		}
	}
	return append(stay, coming...), leave
}

// before is how many are in layers before number k.
func (l layers) before(k int) (n int) {
	for _, group := range l[:k] {
		n += len(group)
	}
	return n
}

// roomy says whether v, one of the group, is among the k that have most room, or
// equals one of them.
func roomy(group []vector, v vector, k int) bool {
	distinct := slices.Clone(group)
	slices.SortFunc(distinct, func(a, b vector) int { return slices.Compare(a, b) })
	distinct = slices.CompactFunc(distinct, func(a, b vector) bool { return slices.Equal(a, b) })
	own, _ := slices.BinarySearchFunc(distinct, v, func(a, b vector) int { return slices.Compare(a, b) })
	room := crowding(distinct)
	ahead := 0
	for _, w := range group {
		if i, _ := slices.BinarySearchFunc(distinct, w, func(a, b vector) int { return slices.Compare(a, b) }); room[i] > room[own] || room[i] == room[own] && i < own {
			ahead++
		}
	}
	return ahead < k
}

// crowding is the room around each of distinct vectors.
func crowding(group []vector) []float64 {
	room := make([]float64, len(group))
	order := make([]int, len(group))
	for m := range group[0] {
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(group[a][m], group[b][m]) })
		widen(room, group, order, m)
	}
	return room
}

// widen adds the distances between the neighbours by loss m.
func widen(room []float64, group []vector, order []int, m int) {
	last := len(order) - 1
	room[order[0]], room[order[last]] = math.Inf(1), math.Inf(1)
	// Halves, because a range may overflow.
	span := group[order[last]][m]/2 - group[order[0]][m]/2
	for i := 1; i < last && span > 0; i++ {
		room[order[i]] += (group[order[i+1]][m]/2 - group[order[i-1]][m]/2) / span
	}
}
