package median

import (
	"cmp"
	"slices"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/rung"
)

// means has the running means of all trials by the iterations at which they reported. As long as no trial passes an
// iteration at which another one reports, it has the means of each iteration, split into halves: a median costs
// O(log n) for n trials. From then on it has the means of each trial, and a median costs O(n log n).
type means struct {
	iterations []uint64    // ascending
	halves     []rung.Rung // for each of iterations
	paths      map[uint32]path
	selected   []float64 // reused
}

// A path has the running means of a trial, by ascending iteration.
type path []point

type point struct {
	iteration uint64
	mean      float64
}

func (a point) compare(iteration uint64) int { return cmp.Compare(a.iteration, iteration) }

// add adds a trial's mean at an iteration. previous is the iteration of its mean before, or 0. add returns how many
// other trials have reached the iteration, and the median of their means by then.
func (m *means) add(trial uint32, previous, iteration uint64, mean float64) (others int, median float64) {
	k, found := slices.BinarySearch(m.iterations, iteration)
	if m.paths == nil && m.uneven(k, found, previous) {
		m.split()
	}
	if m.paths != nil {
		others, median = m.reached(trial, iteration)
		m.paths[trial] = append(m.paths[trial], point{iteration, mean})
		return others, median
	}
	if !found {
		m.iterations, m.halves = append(m.iterations, iteration), append(m.halves, rung.New(2, 0))
	}
	half := &m.halves[k]
	others, median = half.Len(), middle(half)
	half.Add(mean, trial)
	return others, median
}

// uneven reports whether a trial that goes from one iteration to the k-th passes one of others, or others have passed
// the k-th, which is new if it was not found.
func (m *means) uneven(k int, found bool, previous uint64) bool {
	return !found && k < len(m.iterations) || previous > 0 && k > 0 && m.iterations[k-1] > previous
}

// split keeps the means of each trial from now on.
func (m *means) split() {
	m.paths = map[uint32]path{}
	for k, iteration := range m.iterations {
		for trial, mean := range m.halves[k].All() {
			m.paths[trial] = append(m.paths[trial], point{iteration, mean})
		}
	}
	m.iterations, m.halves = nil, nil
}

// reached returns how many trials except one have reached an iteration, and the median of their means.
func (m *means) reached(except uint32, iteration uint64) (n int, median float64) {
	m.selected = m.selected[:0]
	for trial, p := range m.paths {
		if trial == except || p[len(p)-1].iteration < iteration {
			continue
		}
		if mean, ok := p.at(iteration); ok {
			m.selected = append(m.selected, mean)
		}
	}
	if n = len(m.selected); n == 0 {
		return 0, 0
	}
	slices.Sort(m.selected)
	return n, between(m.selected[(n-1)/2], m.selected[n/2])
}

// at returns the mean of a path's results up to an iteration. ok is false if it has none.
func (p path) at(iteration uint64) (mean float64, ok bool) {
	k, found := slices.BinarySearchFunc(p, iteration, point.compare)
	if !found {
		k--
	}
	if k < 0 {
		return 0, false
	}
	return p[k].mean, true
}

// middle returns the median, or 0 of none: the lower half has ⌊n/2⌋.
func middle(r *rung.Rung) float64 {
	next, _ := r.Next()
	cut, ok := r.Cut()
	if r.Len()%2 == 1 || !ok {
		return next
	}
	return between(cut, next)
}

func between(a, b float64) float64 { return a/2 + b/2 }
