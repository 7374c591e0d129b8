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
	tried map[string]candidate // what climbs have rated
}

// A candidate is a point that is allowed.
type candidate struct {
	// full also has values for parameters that do not exist in point.
	full, point space.Point
	x           []float64
	// score is the logarithm of the expected improvement, per second if time counts, or, unless settled, more than
	// that and less than needed.
	score   float64
	settled bool
}

// propose returns the best point found, or nil.
func (s *searcher) propose(given space.Point, rng space.Source) space.Point {
	h := &maximizer{searcher: s, given: given, rng: rng, tried: map[string]candidate{}}
	if h.model = s.posterior(rng); h.model == nil {
		return nil
	}
	h.room.ofMean, h.room.ofSD = make([]float64, s.numbers), make([]float64, s.numbers)
	h.price = s.cost()
	global, local := h.global(), h.local()
	all := slices.Concat(global, local)
	if len(all) < few {
		all = append(all, h.left()...)
		global = all
	}
	for _, start := range slices.Concat(top(global), top(local)) {
		all = append(all, h.climb(start))
	}
	return h.choose(all)
}

// choose returns the best point that may be suggested.
func (h *maximizer) choose(all []candidate) space.Point {
	for len(all) > 0 {
		i := highest(all)
		switch c := &all[i]; {
		case !c.settled: // all that seemed better are in the history
			h.rate(c, math.Inf(-1))
		case h.options.Repeats || !h.history.has(c.x):
			return c.point
		default:
			all = slices.Delete(all, i, i+1)
		}
	}
	return nil
}

// highest returns the place of the first candidate with the highest score.
func highest(list []candidate) (place int) {
	for i := range list {
		if cmp.Compare(list[i].score, list[place].score) > 0 {
			place = i
		}
	}
	return place
}

const (
	// few is the number of remaining points of a finite space up to which all are listed.
	few = 10
	// starts is how many of the global and of the local candidates are improved.
	starts = 2
)

// top returns the candidates to be improved, which are settled.
func top(list []candidate) (best []candidate) {
	list = slices.Clone(list)
	for len(list) > 0 && len(best) < starts {
		i := highest(list)
		best = append(best, list[i])
		list = slices.Delete(list, i, i+1)
	}
	return best
}

// look returns a point as a candidate without a score; it returns false if the point is not allowed.
func (h *maximizer) look(full space.Point) (candidate, bool) {
	c := candidate{full: full, point: h.space.Complete(h.given, full)}
	if !h.space.Holds(c.point) || h.seen.Has(c.point) {
		return c, false
	}
	c.x = h.features(c.point)
	return c, true
}

// rate settles a candidate, unless it finds out earlier that the score is below a floor. The standard deviation falls
// with each point that it takes into account, and the expected improvement with it, while the last points take most of
// the time. So most candidates are left at a small part of the cost, and no score that counts changes.
func (h *maximizer) rate(c *candidate, floor float64) {
	const slack = 1e-3 // more than all roundings
	m, n := h.model, len(h.model.x)
	mean, cost := m.mean(c.x), h.cost(c.x)
	points := 0
	for next := nextStage(0, n); next < n; next = nextStage(points, n) {
		sd := m.sd(points, next)
		c.score = mostImprovement((m.best-mean)/sd) + portable.Log(sd) - cost + slack
		if c.score < floor {
			return
		}
		points = next
	}
	sd := m.sd(points, n)
	value, _ := logImprovement((m.best - mean) / sd)
	c.score, c.settled = value+portable.Log(sd)-cost, true
}

// nextStage returns up to which of n points the standard deviation takes into account, after the first ones, a multiple
// of four. Each stage costs a few times as much as all before: most candidates are left after the first one.
func nextStage(after, n int) int {
	next := max(n/10, after*7/4)
	if next > n*9/10 {
		return n
	}
	return min(n, (next+4)&^3)
}

// cost returns what is subtracted from the score because time counts.
func (h *maximizer) cost(x []float64) float64 {
	if h.price == nil {
		return 0
	}
	return float64(h.price.power * h.price.at(x))
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
	value -= h.cost(x)
	if h.price != nil {
		for k := range gradient {
			gradient[k] -= float64(h.price.power * h.price.weights[k])
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

// A pool has candidates of which only the best are improved.
type pool struct {
	list []candidate
	best [starts]float64 // the highest scores
}

func newPool() *pool {
	p := &pool{}
	for i := range p.best {
		p.best[i] = math.Inf(-1)
	}
	return p
}

// admit adds a candidate, whose score is settled only if it may be one of the best.
func (h *maximizer) admit(p *pool, c candidate) {
	h.rate(&c, p.best[starts-1])
	p.list = append(p.list, c)
	for i, score := range p.best {
		if c.settled && c.score > score {
			p.best[i], c.score = c.score, score
		}
	}
}

// collect evaluates up to n allowed points.
func (h *maximizer) collect(n int, draw func() space.Point) []candidate {
	const patience = 10
	p := newPool()
	for range n * patience {
		if len(p.list) == n {
			break
		}
		if c, ok := h.look(draw()); ok {
			h.admit(p, c)
		}
	}
	return p.list
}

// left returns the remaining points of a finite space, up to a limit.
func (h *maximizer) left() []candidate {
	const most = 500
	points := h.seen.Left(h.given)
	for len(points) > most {
		i := int(h.rng.Float64() * float64(len(points)))
		points[i] = points[len(points)-1]
		points = points[:len(points)-1]
	}
	list := newPool()
	for _, p := range points {
		full := h.space.Draw(h.rng)
		for i, x := range p {
			if !math.IsNaN(x) {
				full[i] = x
			}
		}
		if c, ok := h.look(full); ok {
			h.admit(list, c)
		}
	}
	return list.list
}
