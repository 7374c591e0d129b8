// Package pareto compares trials that have several losses, for searchers that learn from them.
// Losses are finite; smaller is better.
package pareto

import (
	"cmp"
	"math"
	"slices"
)

// Scored is a trial number and its losses.
type Scored struct {
	Trial  int
	Losses []float64
}

// A Cut selects k trials of a front.
type Cut func(front []Scored, k int) []Scored

// Choose selects k trials of the pool, front by front; cut selects from the last front.
func Choose(pool []Scored, k int, cut Cut) (chosen []Scored) {
	for _, front := range Layers(pool, k) {
		if len(front) > k-len(chosen) {
			front = cut(front, k-len(chosen))
		}
		chosen = append(chosen, front...)
	}
	return chosen
}

// Layers returns the first fronts of the pool that together have at least k trials. With trials
// sorted by their losses, only earlier trials can dominate.
func Layers(pool []Scored, k int) (all [][]Scored) {
	rest := slices.SortedFunc(slices.Values(pool), func(a, b Scored) int {
		return cmp.Or(slices.Compare(a.Losses, b.Losses), cmp.Compare(a.Trial, b.Trial))
	})
	for k > 0 && len(rest) > 0 {
		var front, behind []Scored
		for _, s := range rest {
			if slices.ContainsFunc(front, func(t Scored) bool { return Dominates(t.Losses, s.Losses) }) {
				behind = append(behind, s)
			} else {
				front = append(front, s)
			}
		}
		all, rest, k = append(all, front), behind, k-len(front)
	}
	return all
}

// Dominates reports whether a is better than b in one loss and worse in none.
func Dominates(a, b []float64) bool {
	better := false
	for i := range a {
		if a[i] > b[i] {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}

// Crowded selects the k trials of a front with the largest [Crowding] distance.
func Crowded(front []Scored, k int) []Scored {
	room := Crowding(front)
	order := make([]int, len(front))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(room[b], room[a]) })
	chosen := make([]Scored, k)
	for i := range chosen {
		chosen[i] = front[order[i]]
	}
	return chosen
}

// Crowding returns the room around each trial of a front: the distance between its neighbours on
// both sides, summed over the losses as shares of their ranges; +Inf at the ends (K. Deb and
// others, NSGA-II, 2002).
func Crowding(front []Scored) []float64 {
	room := make([]float64, len(front))
	order := make([]int, len(front))
	for m := range front[0].Losses {
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(front[a].Losses[m], front[b].Losses[m]) })
		addGaps(room, front, order, m)
	}
	return room
}

// addGaps adds the distances between the neighbours by loss m.
func addGaps(distance []float64, front []Scored, order []int, m int) {
	last := len(order) - 1
	low, high := front[order[0]].Losses[m], front[order[last]].Losses[m]
	distance[order[0]] = math.Inf(1)
	distance[order[last]] = math.Inf(1)
	if !(high > low) {
		return
	}
	for i := 1; i < last; i++ {
		// Half values, because the whole range may overflow.
		gap := front[order[i+1]].Losses[m]/2 - front[order[i-1]].Losses[m]/2
		distance[order[i]] += gap / (high/2 - low/2)
	}
}
