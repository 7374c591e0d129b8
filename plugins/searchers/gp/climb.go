package gp

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/descent"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

const (
	// maxBases is the number of best points around which others are drawn.
	maxBases = 5
	// maxTried is how many values of a parameter are tried one by one; integers with more values
	// are treated as continuous, and then their neighbours are tried.
	maxTried = 16
	// maxStepped is the approximate number of parameters per step.
	maxStepped = 32
)

// bases returns the points of the model with the smallest means, best first, as values.
func (h *maximizer) bases() (bases []space.Point) {
	m := h.model
	order := make([]int, m.results)
	means := make([]float64, m.results)
	for i := range order {
		order[i], means[i] = i, m.means[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case means[a] < means[b]:
			return -1
		case means[a] > means[b]:
			return 1
		}
		return 0
	})
	for _, i := range order[:min(len(order), maxBases)] {
		p := h.space.Draw(h.rng)
		for k, u := range m.x[i] {
			at := h.order[k]
			switch {
			case k < h.numbers:
				p[at] = h.axes[at].Value(u / m.roots[k])
			case u != none:
				p[at] = u
			}
		}
		bases = append(bases, p)
	}
	return bases
}

// perturb changes some values of a point, by a little or by more.
func (h *maximizer) perturb(base space.Point) space.Point {
	p := slices.Clone(base)
	share := math.Max(0.3, 2/float64(len(h.order)))
	width := 0.2 * portable.Exp(-5*h.rng.Float64())
	for k, i := range h.order {
		change, u := h.rng.Float64(), h.rng.Float64()
		switch {
		case change >= share:
		case k < h.numbers:
			p[i] = h.moved(i, p[i], width*portable.Quantile(u))
		case change < share/2:
			p[i] = h.space.FromUnit(i, u)
		}
	}
	return p
}

// moved returns the value of parameter i at the given distance from x, or the next one.
func (h *maximizer) moved(i int, x, by float64) float64 {
	a := &h.axes[i]
	y := a.Value(math.Max(a.Low, math.Min(a.High, a.Of(x)+by)))
	if y == x && a.Step > 0 {
		y = h.space.Quantise(i, x+math.Copysign(a.Step, by))
	}
	return y
}

// climb improves a candidate: the numbers along the gradient, and the values of choices and
// integers one by one.
func (h *maximizer) climb(c candidate) candidate {
	const rounds = 3
	for range rounds {
		before := c.score
		c = h.step(h.ascend(c))
		if !(c.score > before+1e-3) {
			break
		}
	}
	return c
}

// free reports whether feature k of a candidate can be changed.
func (h *maximizer) free(c *candidate, k int) bool {
	i := h.order[k]
	return !math.IsNaN(c.point[i]) && (h.given == nil || math.IsNaN(h.given[i]))
}

// ascend follows the gradient.
func (h *maximizer) ascend(c candidate) candidate {
	var moving []int
	var u, low, high []float64
	for k := range h.numbers {
		a := &h.axes[h.order[k]]
		if h.free(&c, k) && (a.Values == 0 || a.Values > maxTried) {
			moving = append(moving, k)
			u, low, high = append(u, c.x[k]), append(low, a.Low), append(high, a.High)
		}
	}
	if len(moving) == 0 {
		return c
	}
	x, full := slices.Clone(c.x), make([]float64, h.numbers)
	f := func(u, gradient []float64) float64 {
		for j, k := range moving {
			x[k] = u[j]
		}
		value := h.slope(x, full)
		for j, k := range moving {
			gradient[j] = -full[k]
		}
		return -value
	}
	descent.Minimise(f, u, low, high, descent.Limits{Iterations: 20, Gradient: 1e-3, Progress: 1e-3})
	return h.arrive(c, moving, u)
}

// arrive moves a candidate to the end of the ascent, or as far as constraints allow.
func (h *maximizer) arrive(c candidate, moving []int, u []float64) candidate {
	const halvings = 6
	share := 1.0
	for range halvings {
		full := slices.Clone(c.full)
		for j, k := range moving {
			i := h.order[k]
			full[i] = h.axes[i].Value(c.x[k] + float64(share*(u[j]-c.x[k])))
		}
		if next, ok := h.look(full); ok {
			return h.better(next, c)
		}
		share /= 2
	}
	return c
}

// better returns next, which has no score yet, if its score is higher than that of c, otherwise c. Most points are
// tried more than once: those around a candidate in each round, and all if several climbs end at one.
func (h *maximizer) better(next, c candidate) candidate {
	key := key(next.x)
	if known, tried := h.tried[key]; tried && (known.settled || known.score < c.score) {
		next.score, next.settled = known.score, known.settled
	} else {
		h.rate(&next, c.score)
		h.tried[key] = next
	}
	if next.score > c.score {
		return next
	}
	return c
}

// key returns a string that differs for different features.
func key(x []float64) string {
	b := make([]byte, 0, 8*len(x))
	for _, u := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(u))
	}
	return string(b)
}

// step tries values of parameters that are not continuous; if there are many, of some of them.
func (h *maximizer) step(c candidate) candidate {
	share := maxStepped / float64(len(h.order))
	for k, i := range h.order {
		if !h.free(&c, k) || k < h.numbers && h.axes[i].Step == 0 || share < 1 && h.rng.Float64() >= share {
			continue
		}
		for _, x := range h.values(i, c.point[i]) {
			full := slices.Clone(c.full)
			full[i] = x
			if next, ok := h.look(full); ok {
				c = h.better(next, c)
			}
		}
	}
	return c
}

// values returns the values of parameter i to try in place of x: all, or neighbours.
func (h *maximizer) values(i int, x float64) (list []float64) {
	a := &h.axes[i]
	axis, finite := h.space.Axis(i)
	switch {
	case finite && axis.Count <= maxTried:
		for k := range axis.Count {
			list = append(list, axis.Value(k))
		}
	case a.Choices > 0:
		for range maxTried {
			list = append(list, h.space.FromUnit(i, h.rng.Float64()))
		}
	default:
		for _, steps := range []float64{-2, -1, 1, 2} {
			list = append(list, h.space.Quantise(i, x+steps*a.Step))
		}
	}
	return slices.DeleteFunc(list, func(y float64) bool { return y == x })
}
