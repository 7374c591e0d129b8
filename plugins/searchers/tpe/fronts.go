package tpe

import (
	"cmp"
	"math"
	"slices"
)

// fronts ranks trials with several losses: first those that no other is better
// than in one loss and as good in all (the first front), then those of which that
// is true without the first front, and so on; within the front that is cut, those
// that add most to the volume that is dominated.
type fronts struct {
	pool  []scored
	total int
}

type scored struct {
	trial  int
	losses []float64
}

const (
	// maxPool is how many trials there are in the pool before it is reduced to
	// keepPool: by fronts, and within the front that is cut by crowding.
	maxPool  = 512
	keepPool = 256
	// maxVolume is the number of objectives up to which volumes are computed;
	// beyond, crowding decides.
	maxVolume = 4
)

func (f *fronts) add(trial int, losses []float64) {
	f.total++
	f.pool = append(f.pool, scored{trial, losses})
	if len(f.pool) > maxPool {
		f.pool = choose(f.pool, keepPool, crowded)
	}
}

func (f *fronts) remove(trial int, _ []float64) {
	f.total--
	f.pool = slices.DeleteFunc(f.pool, func(s scored) bool { return s.trial == trial })
}

func (f *fronts) size() int { return f.total }

func (f *fronts) best(k int) (trials []int, weights []float64) {
	cut := voluminous
	if len(f.pool) > 0 && len(f.pool[0].losses) > maxVolume {
		cut = crowded
	}
	for _, s := range choose(f.pool, k, cut) {
		trials, weights = append(trials, s.trial), append(weights, 1)
	}
	return trials, weights
}

// choose takes k of the pool, front by front; cut chooses in the last one.
func choose(pool []scored, k int, cut func(front []scored, k int) []scored) (chosen []scored) {
	for _, front := range layers(pool, k) {
		if len(front) > k-len(chosen) {
			front = cut(front, k-len(chosen))
		}
		chosen = append(chosen, front...)
	}
	return chosen
}

// layers is the first fronts of the pool, as many as have k trials. Sorted by their
// losses, trials are dominated by earlier ones only.
func layers(pool []scored, k int) (all [][]scored) {
	rest := slices.SortedFunc(slices.Values(pool), func(a, b scored) int {
		return cmp.Or(slices.Compare(a.losses, b.losses), cmp.Compare(a.trial, b.trial))
	})
	for k > 0 && len(rest) > 0 {
		var front, behind []scored
		for _, s := range rest {
			if slices.ContainsFunc(front, func(t scored) bool { return dominates(t.losses, s.losses) }) {
				behind = append(behind, s)
			} else {
				front = append(front, s)
			}
		}
		all, rest, k = append(all, front), behind, k-len(front)
	}
	return all
}

// dominates says whether a is better than b somewhere and worse nowhere.
func dominates(a, b []float64) bool {
	better := false
	for i := range a {
		if a[i] > b[i] {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}

// crowded takes the k trials whose neighbours on both sides are farthest, summed
// over the losses as shares of their ranges (K. Deb and others, NSGA-II, 2002).
func crowded(front []scored, k int) []scored {
	distance := make([]float64, len(front))
	order := make([]int, len(front))
	for m := range front[0].losses {
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(front[a].losses[m], front[b].losses[m]) })
		addGaps(distance, front, order, m)
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distance[b], distance[a]) })
	chosen := make([]scored, k)
	for i := range chosen {
		chosen[i] = front[order[i]]
	}
	return chosen
}

// addGaps adds the distances between the neighbours by loss m.
func addGaps(distance []float64, front []scored, order []int, m int) {
	last := len(order) - 1
	low, high := front[order[0]].losses[m], front[order[last]].losses[m]
	distance[order[0]] = math.Inf(1)
	distance[order[last]] = math.Inf(1)
	if !(high > low) {
		return
	}
	for i := 1; i < last; i++ {
		// Halves, for the whole range may overflow.
		gap := front[order[i+1]].losses[m]/2 - front[order[i-1]].losses[m]/2
		distance[order[i]] += gap / (high/2 - low/2)
	}
}
