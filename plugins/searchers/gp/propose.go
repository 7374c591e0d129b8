package gp

import (
	"cmp"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// A maximizer searches for the points with the largest expected improvement.
type maximizer struct {
	*searcher
	model *model
	price *price // nil: the duration has no influence
	given space.Point
	rng   space.Source
	room  struct{ ofMean, ofSD []float64 }
}

// A candidate is an evaluated point.
type candidate struct {
	// full also has values for parameters that do not exist in point.
	full, point space.Point
	x           []float64
	score       float64
}

// propose returns points, best first.
func (s *searcher) propose(given space.Point, rng space.Source) (points []space.Point) {
	h := &maximizer{searcher: s, given: given, rng: rng}
	if h.model = s.posterior(rng); h.model == nil {
		return nil
	}
	h.room.ofMean, h.room.ofSD = make([]float64, s.numbers), make([]float64, s.numbers)
	if s.options.Cost > 0 {
		h.price = s.history.newPrice()
	}
	global, local := h.global(), h.local()
	all := slices.Concat(global, local)
	if len(all) < few {
		all = append(all, h.left()...)
		global = all
	}
	for _, start := range slices.Concat(top(global), top(local)) {
		all = append(all, h.climb(start))
	}
	byScore(all)
	for _, c := range all {
		if len(points) == maxProposals {
			break
		}
		if s.options.Repeats || !s.history.has(c.x) {
			points = append(points, c.point)
		}
	}
	return points
}

const (
	// few is the number of remaining points of a finite space up to which all are listed.
	few = 10
	// starts is how many of the global and of the local candidates are improved.
	starts = 2
)

func byScore(list []candidate) {
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
}

// top returns the candidates to be improved.
func top(list []candidate) []candidate {
	byScore(list)
	return list[:min(len(list), starts)]
}

// look evaluates a point; it returns false if the point is not allowed.
func (h *maximizer) look(full space.Point) (candidate, bool) {
	c := candidate{full: full, point: h.space.Complete(h.given, full)}
	if !h.space.Holds(c.point) || h.seen.Has(c.point) {
		return c, false
	}
	c.x = h.features(c.point)
	c.score = h.score(c.x)
	return c, true
}

// score returns the logarithm of the expected improvement, per second if time counts.
func (h *maximizer) score(x []float64) float64 {
	mean, sd := h.model.predict(x)
	value, _ := logImprovement((h.model.best - mean) / sd)
	value += portable.Log(sd)
	if h.price != nil {
		value -= float64(h.options.Cost * h.price.at(x))
	}
	return value
}

// slope returns score, and writes its gradient by the numbers.
func (h *maximizer) slope(x, gradient []float64) float64 {
	ofMean, ofSD := h.room.ofMean, h.room.ofSD
	mean, sd := h.model.slopes(x, ofMean, ofSD)
	z := (h.model.best - mean) / sd
	value, byZ := logImprovement(z)
	value += portable.Log(sd)
	bySD := (1 - float64(byZ*z)) / sd
	for k := range gradient {
		gradient[k] = float64(bySD*ofSD[k]) - float64(byZ/sd*ofMean[k])
	}
	if h.price != nil {
		value -= float64(h.options.Cost * h.price.at(x))
		for k := range gradient {
			gradient[k] -= float64(h.options.Cost * h.price.weights[k])
		}
	}
	return value
}

// global returns random points.
func (h *maximizer) global() []candidate {
	return h.collect(h.candidates()*2/3, func() space.Point { return h.space.Draw(h.rng) })
}

// local returns points around the best.
func (h *maximizer) local() []candidate {
	bases := h.bases()
	if len(bases) == 0 {
		return nil
	}
	return h.collect(h.candidates()/3, func() space.Point {
		u := h.rng.Float64()
		return h.perturb(bases[int(u*u*float64(len(bases)))])
	})
}

// collect evaluates up to n allowed points.
func (h *maximizer) collect(n int, draw func() space.Point) (list []candidate) {
	const patience = 10
	for range n * patience {
		if len(list) == n {
			break
		}
		if c, ok := h.look(draw()); ok {
			list = append(list, c)
		}
	}
	return list
}

// left returns the remaining points of a finite space, up to a limit.
func (h *maximizer) left() (list []candidate) {
	const most = 500
	points := h.seen.Left(h.given)
	for len(points) > most {
		i := int(h.rng.Float64() * float64(len(points)))
		points[i] = points[len(points)-1]
		points = points[:len(points)-1]
	}
	for _, p := range points {
		full := h.space.Draw(h.rng)
		for i, x := range p {
			if !math.IsNaN(x) {
				full[i] = x
			}
		}
		if c, ok := h.look(full); ok {
			list = append(list, c)
		}
	}
	return list
}
