package tpe

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// A proposal is a point in progress, decided group by group from the top: the choice of a branch
// before the branch's own parameters.
type proposal struct {
	*searcher
	rng   space.Source
	given space.Point
	// point has the decided values, and at the same in coordinates; NaN: undecided, or it does not
	// exist.
	point space.Point
	at    []float64
}

// propose returns a point from the models, or nil if constraints or known points exclude all
// candidates.
func (s *searcher) propose(given space.Point, rng space.Source) space.Point {
	p := &proposal{searcher: s, rng: rng, given: given, point: make(space.Point, len(s.coordinates))}
	for i := range p.point {
		p.point[i] = math.NaN()
	}
	p.at = slices.Clone(p.point)
	for g := range s.groups {
		if s.space.Active(p.point, s.groups[g].first) && !p.decide(g) {
			return nil
		}
	}
	return p.point
}

// decide chooses the parameters of group g; it returns false if no candidate is allowed.
func (p *proposal) decide(g int) bool {
	own := &p.groups[g]
	for _, i := range own.alone {
		p.point[i] = p.space.FromUnit(i, 0.5)
	}
	known, free := p.layGiven(own)
	if len(free) == 0 {
		return p.allowed(g)
	}
	good, bad := p.models(g, known, free)
	best := p.search(g, free, good, bad)
	if best == nil {
		return false
	}
	p.setParams(free, best, true)
	return true
}

// layGiven sets the group's parameters that the request fixes. known are these and those above,
// free the others.
func (p *proposal) layGiven(own *group) (known, free []int) {
	known = slices.Clone(own.above)
	for _, i := range own.own {
		if p.given == nil || math.IsNaN(p.given[i]) {
			free = append(free, i)
			continue
		}
		p.point[i] = p.given[i]
		p.at[i] = p.coordinates[i].of(p.given[i])
		known = append(known, i)
	}
	return known, free
}

// models returns the mixtures of the good and of the bad trials of group g.
func (p *proposal) models(g int, known, free []int) (good, bad *mixture) {
	h, branch := p.history, &p.history.branches[g]
	trials, weights := branch.ranking.best(p.options.good(branch.ranking.size()))
	good = newMixture(p.coordinates, known, free, p.at,
		parts{at: h.points(trials), weights: weights, prior: p.options.PriorWeight, width: near, room: branch.good})
	branch.good = good.room
	var waiting []int
	if p.options.Liar {
		waiting = h.waiting(branch.first)
	}
	slices.Sort(trials)
	trials, weights = branch.members.others(trials, waiting)
	width := p.badWidth(len(trials), len(known)+len(free))
	bad = branch.bad.next(width, func(before *mixture, room []float64) *mixture {
		return newMixture(p.coordinates, known, free, p.at, parts{trials: trials, at: h.points(trials),
			weights: weights, prior: p.options.PriorWeight, width: same(width), before: before, room: room})
	})
	return good, bad
}

// badWidth returns the width of the kernels of n bad trials for a number of dimensions: it shrinks
// with n like that of optimal estimates (D. W. Scott, 1992), and grows with the square root of the
// dimensions, as the distance between points does.
func (p *proposal) badWidth(n, dimensions int) float64 {
	d := float64(dimensions)
	shrink := portable.Exp(-portable.Log(float64(max(n, 1))/100) / (d + 4))
	return p.options.Bandwidth * math.Sqrt(d) * shrink
}

// search draws candidates from the good model, and returns the coordinates of the one that is most
// likely to be good, or nil if none is allowed.
func (p *proposal) search(g int, free []int, good, bad *mixture) (best []float64) {
	const patience = 10 // draws for each candidate
	x := make([]float64, len(free))
	goodRoom, badRoom := make([]float64, len(good.logs)), make([]float64, len(bad.logs))
	top, left := math.Inf(-1), p.options.Candidates
	for draws := p.options.Candidates * patience; draws > 0 && left > 0; draws-- {
		kernel := good.pick(p.rng.Float64())
		for k := range x {
			x[k] = good.free[k].draw(kernel, p.rng.Float64())
		}
		if !p.allows(g, free, x) {
			continue
		}
		left--
		score := good.logDensity(x, goodRoom) - bad.logDensity(x, badRoom)
		if score > top || best == nil {
			top, best = score, append(best[:0], x...)
		}
	}
	return best
}

// allows reports whether the group's parameters may be x.
func (p *proposal) allows(g int, free []int, x []float64) bool {
	if len(p.space.Constraints) == 0 && !p.finite {
		return true
	}
	p.setParams(free, x, false)
	return p.allowed(g)
}

// setParams sets parameters of the point, and if final their coordinates.
func (p *proposal) setParams(indices []int, x []float64, final bool) {
	for k, i := range indices {
		p.point[i] = p.coordinates[i].value(x[k])
		if final {
			p.at[i] = x[k]
		}
	}
}

// allowed reports whether the decisions up to group g can be part of a suggestion.
func (p *proposal) allowed(g int) bool {
	if !p.space.Holds(p.point) {
		return false
	}
	for _, later := range p.groups[g+1:] {
		if p.space.Active(p.point, later.first) {
			return true
		}
	}
	return !p.seen.Has(p.point)
}
