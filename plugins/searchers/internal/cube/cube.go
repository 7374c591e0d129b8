// Package cube maps points for searchers with one model for the whole space: every parameter is a
// number on an axis from 0 to 1, on which its own distribution is uniform, or a category. Normal
// parameters have an axis that is linear in their values, with the mean at 0.5 and a standard
// deviation of one sixth; it extends beyond 0 and 1.
package cube

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// sds is the number of standard deviations of a normal parameter per unit.
const sds = 6

// An Axis is one parameter.
type Axis struct {
	space *space.Space
	index int
	param *space.Param
	// Choices is the number of categories, or 0 for numbers. A category's coordinate is its number.
	Choices int
	// Low and High bound a number's coordinate.
	Low, High float64
	// Values is the number of values; 0: continuous or unbounded.
	Values int64
	// Step is the distance between values if they are not continuous (Int, Ordinal, steps);
	// otherwise 0.
	Step float64
}

// New returns the axes of a space's parameters.
func New(s *space.Space) []Axis {
	axes := make([]Axis, len(s.Params))
	for i := range axes {
		axes[i] = newAxis(s, i)
	}
	return axes
}

func newAxis(s *space.Space, i int) Axis {
	a := Axis{space: s, index: i, param: &s.Params[i], High: 1}
	if values, finite := s.Axis(i); finite {
		a.Values = values.Count
	}
	switch p := a.param; {
	case p.Kind == space.Choice:
		a.Choices = len(p.Choices)
	case p.Kind == space.Normal:
		const edge = 8.3 / sds // as far as samples go
		a.Low, a.High = 0.5-edge, 0.5+edge
		a.Step = p.Step
	case p.Step > 0:
		a.Step = p.Step
	case p.Kind != space.Real:
		a.Step = 1
	}
	return a
}

// Fixed reports whether there is only one value.
func (a *Axis) Fixed() bool { return a.Values == 1 }

// Of returns the coordinate of value x; NaN for NaN.
func (a *Axis) Of(x float64) float64 {
	switch {
	case math.IsNaN(x), a.Choices > 0:
		return x
	case a.param.Kind == space.Normal:
		return math.Max(a.Low, math.Min(a.High, 0.5+(x-a.param.Mean)/a.param.SD/sds))
	}
	return a.space.ToUnit(a.index, x)
}

// Value returns the value at coordinate u; NaN for NaN.
func (a *Axis) Value(u float64) float64 {
	switch {
	case math.IsNaN(u), a.Choices > 0:
		return u
	case a.param.Kind == space.Normal:
		u = math.Max(a.Low, math.Min(a.High, u))
		return a.space.Quantise(a.index, a.param.Mean+float64(sds*a.param.SD*(u-0.5)))
	}
	return a.space.FromUnit(a.index, u)
}

// Cell returns the range of coordinates with the same value as u, for an axis with a Step. The
// ranges of the first and the last value are unbounded.
func (a *Axis) Cell(u float64) (low, high float64) {
	x := a.Value(u)
	low, high = a.Of(x-a.Step/2), a.Of(x+a.Step/2)
	const rounding = 1e-12
	if low <= a.Low+rounding {
		low = math.Inf(-1)
	}
	if high >= a.High-rounding {
		high = math.Inf(1)
	}
	return low, high
}

// Of returns the coordinates of a point.
func Of(axes []Axis, p space.Point) []float64 {
	at := make([]float64, len(p))
	for i := range p {
		at[i] = axes[i].Of(p[i])
	}
	return at
}
