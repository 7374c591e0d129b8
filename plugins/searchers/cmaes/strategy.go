package cmaes

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/cube"
	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// A layout says how each parameter is modelled.
type layout struct {
	axes []cube.Axis
	// numbers and choices are the indices of the parameters of each sort; those with one value are
	// in neither.
	numbers, choices []int
}

func newLayout(s *space.Space) *layout {
	l := &layout{axes: cube.New(s)}
	for i := range l.axes {
		switch a := &l.axes[i]; {
		case a.Fixed():
		case a.Choices > 0:
			l.choices = append(l.choices, i)
		default:
			l.numbers = append(l.numbers, i)
		}
	}
	return l
}

// axis returns the axis of dimension j.
func (l *layout) axis(j int) *cube.Axis { return &l.axes[l.numbers[j]] }

// A strategy is the distribution of points: a normal one for the numbers, on their axes, and for
// each choice a probability of each category.
type strategy struct {
	*layout
	options options
	rates   *rates
	size    int // of a generation
	mean    []float64
	sigma   float64
	// covariance is that of the normal distribution without sigma², and root its lower triangular
	// root.
	covariance, root dense.Matrix
	// path and center are the evolution paths of sigma and of the covariance.
	path, center []float64
	odds         [][]float64
	generations  int
	pace         *pace
	watch        watch
}

// newStrategy starts at a point, in coordinates.
func newStrategy(l *layout, o options, size int, at []float64) *strategy {
	d := len(l.numbers)
	s := &strategy{layout: l, options: o, size: size, rates: newRates(size, d), sigma: o.Sigma}
	for _, i := range l.numbers {
		s.mean = append(s.mean, at[i])
	}
	s.covariance, s.root = dense.Identity(d), dense.Identity(d)
	s.path, s.center = make([]float64, d), make([]float64, d)
	for _, i := range l.choices {
		odds := make([]float64, l.axes[i].Choices)
		for k := range odds {
			odds[k] = 1 / float64(len(odds))
		}
		s.odds = append(s.odds, odds)
	}
	if o.Adapt {
		s.pace = newPace(d)
	}
	s.keepMargin()
	return s
}

// population returns the size of a generation for the number of dimensions.
func population(l *layout, o options) int {
	if o.Population > 0 {
		return o.Population
	}
	n := max(1, len(l.numbers)+len(l.choices))
	return 4 + int(3*portable.Log(float64(n)))
}

// draw returns a point of the distribution, with its width multiplied by wide.
func (s *strategy) draw(rng space.Source, wide float64) space.Point {
	p := make(space.Point, len(s.axes))
	for i := range p {
		p[i] = s.axes[i].Value(0) // parameters with one value keep it
	}
	for j, u := range s.drawNumbers(rng, wide) {
		p[s.numbers[j]] = s.axis(j).Value(u)
	}
	for j, i := range s.choices {
		p[i] = float64(pick(s.odds[j], rng.Float64(), wide))
	}
	return p
}

// drawNumbers draws again if a point leaves the bounds, and finally moves it to the bounds.
func (s *strategy) drawNumbers(rng space.Source, wide float64) (u []float64) {
	const tries = 10
	z := make([]float64, len(s.numbers))
	for range tries {
		for j := range z {
			z[j] = portable.Quantile(rng.Float64())
		}
		u = dense.Times(s.root, z)
		for j := range u {
			u[j] = s.mean[j] + float64(s.sigma*wide*u[j])
		}
		if s.inside(u) {
			break
		}
	}
	for j := range u {
		u[j] = math.Max(s.axis(j).Low, math.Min(s.axis(j).High, u[j]))
	}
	return u
}

func (s *strategy) inside(u []float64) bool {
	for j := range u {
		if a := s.axis(j); a.Step == 0 && (u[j] < a.Low || u[j] > a.High) {
			return false
		}
	}
	return true
}

// pick returns the category for u in [0, 1); wide flattens the probabilities.
func pick(odds []float64, u, wide float64) int {
	even := 1 / float64(len(odds))
	for k, p := range odds {
		if u -= even + float64((p-even)/wide); u < 0 {
			return k
		}
	}
	return len(odds) - 1
}
