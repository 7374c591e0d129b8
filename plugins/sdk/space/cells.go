package space

import (
	"math"
	"slices"
)

// Cells returns the combinations of the grid axes that points can have which have the given coordinates (nil: any), in
// ascending order. Each is a number in which the last axis is the last digit; an axis that does not exist there has
// digit 0. Combinations that violate a constraint, whatever the other parameters are, are left out. An axis whose
// existence depends on other parameters counts as one that exists. It returns false if looking takes more than limit
// steps, each of which is a parameter of a combination.
func (s *Space) Cells(given Point, limit int) (cells []uint64, ok bool) {
	return s.cells(given, limit, false)
}

// PossibleCells is Cells that looks ahead: it takes no step toward combinations that violate a constraint whatever
// their values within the bounds are, so that it needs fewer steps. It leaves out more combinations where parameters
// that are no grid axes have bounds within which a constraint cannot hold.
func (s *Space) PossibleCells(given Point, limit int) (cells []uint64, ok bool) {
	return s.cells(given, limit, true)
}

func (s *Space) cells(given Point, limit int, ahead bool) (cells []uint64, ok bool) {
	c := &cellWalk{space: s, given: given, point: make(Point, len(s.Params)), open: make([]bool, len(s.Params)),
		left: limit}
	if ahead {
		c.ranges = newRanges(s)
	}
	for i := range c.point {
		c.point[i] = math.NaN()
	}
	c.from(0, 0)
	return c.cells, c.left >= 0
}

// cellWalk gives parameters their values one after the other, as far as a combination decides them.
type cellWalk struct {
	space *Space
	given Point
	point Point  // NaN: it does not exist, or open
	open  []bool // its value, or whether it exists, depends on more than the combination
	left  int    // steps
	cells []uint64

	ranges *ranges // nil: it does not look ahead
	at     int     // the first parameter that has no value yet
}

// from visits all combinations of the axes from parameter i on; cell has the digits of those before.
func (c *cellWalk) from(i int, cell uint64) {
	if c.left--; c.left < 0 || !c.holds(i) {
		return
	}
	if i == len(c.point) {
		c.cells = append(c.cells, cell)
		return
	}
	p := &c.space.Params[i]
	exists, known := c.existence(i)
	switch {
	case p.Grid:
		n := uint64(len(p.Choices))
		if known && !exists {
			c.from(i+1, cell*n)
			return
		}
		c.open[i] = !known
		for k := range n {
			if c.isGiven(i) && c.given[i] != float64(k) {
				continue
			}
			if known {
				c.point[i] = float64(k)
			}
			c.from(i+1, cell*n+k)
		}
	case known && !exists:
		c.from(i+1, cell)
	default:
		axis, finite := c.space.Axis(i)
		single := known && finite && axis.Count == 1
		if c.open[i] = !single; single {
			c.point[i] = axis.Value(0)
		}
		c.from(i+1, cell)
	}
	c.point[i], c.open[i] = math.NaN(), false
}

// holds reports whether the values of the parameters before i leave a chance that the constraints hold.
func (c *cellWalk) holds(i int) bool {
	if c.ranges == nil {
		return c.space.Holds(c.point)
	}
	c.at = i
	return !slices.ContainsFunc(c.space.Constraints, func(e *Expr) bool { return c.ranges.within(e, c) == exactly(0) })
}

func (c *cellWalk) coordinate(i int) float64 {
	if i >= c.at && c.isGiven(i) {
		return c.given[i]
	}
	return c.point[i]
}

func (c *cellWalk) exists(i int) bool {
	return c.space.Params[i].When == nil || !math.IsNaN(c.point[i])
}

func (c *cellWalk) isGiven(i int) bool { return i < len(c.given) && !math.IsNaN(c.given[i]) }

// existence reports whether parameter i exists, and whether the combination alone decides that.
func (c *cellWalk) existence(i int) (exists, known bool) {
	when := c.space.Params[i].When
	if when == nil {
		return true, true
	}
	x := when.Eval(c.space, c.point)
	return x == 1, !math.IsNaN(x) || !c.dependsOnOpen(when)
}

func (c *cellWalk) dependsOnOpen(e *Expr) bool {
	return (e.Op == Number || e.Op == In) && c.open[e.Param] || slices.ContainsFunc(e.Args, c.dependsOnOpen)
}
