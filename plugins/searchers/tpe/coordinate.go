package tpe

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// normalWidth is how many standard deviations of a normal parameter correspond to the width 1 of
// others.
const normalWidth = 4

// A coordinate describes how the model represents a parameter: as a category, or as a number on an
// axis on which the parameter's own distribution is uniform on [low, high] = [0, 1], or, for normal
// parameters, normal around 0.
type coordinate struct {
	space *space.Space
	index int
	param *space.Param
	// choices is the number of categories; 0 for numbers.
	choices int
	// low and high bound a number.
	low, high float64
	// cell is the distance between neighbouring numbers; 0 for continuous ones. If it varies, cells
	// has it for equal parts of [0, 1].
	cell  float64
	cells []float64
	// fixed: there is only one value.
	fixed bool
}

func newCoordinate(s *space.Space, i int) coordinate {
	c := coordinate{space: s, index: i, param: &s.Params[i], high: 1}
	axis, finite := s.Axis(i)
	switch p := c.param; {
	case finite && axis.Count == 1:
		c.fixed = true
	case p.Kind == space.Choice:
		c.choices = len(p.Choices)
	case p.Kind == space.Normal:
		const edge = 8.3 // as far as samples go
		c.low, c.high = -edge/normalWidth, edge/normalWidth
		c.cell = p.Step / p.SD / normalWidth
	case finite && p.Log:
		c.cell = 1
		c.measure()
	case finite:
		c.cell = 1 / float64(axis.Count)
	}
	return c
}

// of returns the coordinate of value x; NaN for NaN.
func (c *coordinate) of(x float64) float64 {
	switch {
	case math.IsNaN(x), c.choices > 0:
		return x
	case c.normal():
		return math.Max(c.low, math.Min(c.high, (x-c.param.Mean)/c.param.SD/normalWidth))
	}
	return c.space.ToUnit(c.index, x)
}

// value returns the value at coordinate u.
func (c *coordinate) value(u float64) float64 {
	switch {
	case math.IsNaN(u), c.choices > 0:
		return u
	case c.normal():
		return c.space.Quantise(c.index, c.param.Mean+float64(normalWidth*c.param.SD*u))
	}
	return c.space.FromUnit(c.index, u)
}

func (c *coordinate) normal() bool { return c.param.Kind == space.Normal }

// discrete reports whether numbers must be rounded to values.
func (c *coordinate) discrete() bool { return c.cell != 0 }

// cellAt returns the distance between values around u.
func (c *coordinate) cellAt(u float64) float64 {
	if c.cells == nil {
		return c.cell
	}
	return c.cells[int(u*float64(len(c.cells)-1))]
}

// measure fills cells.
func (c *coordinate) measure() {
	const parts = 64
	step := c.param.Step
	if step == 0 {
		step = 1 // integers
	}
	for k := range parts + 1 {
		x := c.value(float64(k) / parts)
		if c.space.Quantise(c.index, x+step) == x {
			x -= step
		}
		c.cells = append(c.cells, c.of(x+step)-c.of(x))
	}
}
