package tpe

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// A column has the kernels of a mixture along one parameter.
type column struct {
	coordinate *coordinate
	// centre and the others have one entry for each kernel. The prior's scale is 0 if it is
	// uniform. scale is the inverse of the width, divided by √2. divisor is the inverse of the height at
	// the centre, and 0 for the prior.
	centre, width, scale, divisor []float64
	// stay is the logarithm of how much more often a choice is the trial's than another one; move
	// is the mass shared equally by all choices.
	stay, move float64
}

// perKernel is how many numbers a kernel has along a parameter.
const perKernel = 4

// rootOfTwoPi is the ratio of a normal distribution's width to the inverse of its height.
var rootOfTwoPi = math.Sqrt(2 * math.Pi)

// newColumns returns columns of n kernels in room.
func newColumns(coordinates []coordinate, indices []int, n int, room []float64) []column {
	columns := make([]column, len(indices))
	for k, i := range indices {
		columns[k] = column{coordinate: &coordinates[i], centre: room[:n], width: room[n : 2*n], scale: room[2*n : 3*n],
			divisor: room[3*n : 4*n]}
		room = room[perKernel*n:]
	}
	return columns
}

// alike reports whether columns are those of the same parameters.
func alike(a, b []column) bool {
	return slices.EqualFunc(a, b, func(a, b column) bool { return a.coordinate == b.coordinate })
}

// copyColumns copies n kernels, from the one at from to that at to.
func copyColumns(into, other []column, to, from, n int) {
	for k := range into {
		c, o := &into[k], &other[k]
		copy(c.centre[to:], o.centre[from:from+n])
		copy(c.scale[to:], o.scale[from:from+n])
		copy(c.divisor[to:], o.divisor[from:from+n])
	}
}

// fitChoice distributes the mass such that each choice other than the trial's has the share pseudo
// of the trial's additional mass.
func (c *column) fitChoice(pseudo float64, product []float64) {
	choices := float64(c.coordinate.choices)
	all := 1 + float64(choices*pseudo)
	c.stay = portable.Log((1 + pseudo) / pseudo)
	c.move = choices * pseudo / all
	share := pseudo / all
	for j, x := range c.centre {
		if math.IsNaN(x) {
			product[j] /= choices
		} else {
			product[j] *= share
		}
	}
}

// fitNumber computes the kernels that were not copied, which have no width.
func (c *column) fitNumber(width func(centres, widths []float64), copied []bool, product []float64) {
	prior := len(product) - 1
	width(c.centre[:prior], c.width[:prior])
	for j, done := range copied {
		if !done {
			c.fitKernel(j)
		}
	}
	for j, divisor := range c.divisor {
		switch {
		case divisor != 0:
			product[j] /= divisor
		case c.coordinate.normal():
			product[j] *= normalWidth / rootOfTwoPi
		}
	}
}

// fitKernel makes kernel j a truncated normal distribution, or without a centre the space's own distribution.
func (c *column) fitKernel(j int) {
	x, low, high := c.centre[j], c.coordinate.low, c.coordinate.high
	if x == x {
		w := max(min(c.width[j], 1), 0.5*c.coordinate.cellAt(x))
		mass := portable.CDF((high-x)/w) - portable.CDF((low-x)/w)
		c.width[j], c.scale[j], c.divisor[j] = w, math.Sqrt2/2/w, rootOfTwoPi*mass*w
		return
	}
	c.centre[j], c.width[j], c.scale[j], c.divisor[j] = 0, 0, 0, 0
	if c.coordinate.normal() {
		c.width[j], c.scale[j] = 1.0/normalWidth, normalWidth*math.Sqrt2/2
	}
}

// addLogs adds the logarithm of each kernel's density at x, without the constant factor, to sums.
func (c *column) addLogs(x float64, sums []float64) {
	if c.coordinate.choices > 0 {
		dense.AddWhere(sums, x, c.centre, true, c.stay)
		return
	}
	dense.SubSquares(sums, x, c.centre, c.scale)
}

// draw returns the coordinate of kernel j at the quantile u in [0, 1].
func (c *column) draw(j int, u float64) float64 {
	x := c.centre[j]
	switch {
	case c.coordinate.choices > 0:
		return c.drawChoice(x, u)
	case c.scale[j] == 0:
		return u
	}
	low := portable.CDF((c.coordinate.low - x) / c.width[j])
	high := portable.CDF((c.coordinate.high - x) / c.width[j])
	z := portable.Quantile(low + float64(u*(high-low)))
	x = max(c.coordinate.low, min(c.coordinate.high, x+float64(c.width[j]*z)))
	if c.coordinate.discrete() {
		return c.coordinate.of(c.coordinate.value(x))
	}
	return x
}

func (c *column) drawChoice(centre, u float64) float64 {
	move := c.move
	if math.IsNaN(centre) {
		move = 1
	}
	if u >= move {
		return centre
	}
	choices := float64(c.coordinate.choices)
	return math.Min(choices-1, math.Floor(u/move*choices))
}

// near sets widths to the larger distance to a neighbour, at least range/(n+2) for n centres: where
// good trials are dense, kernels are narrow.
func near(centres, widths []float64) {
	order := ascending(centres)
	n := len(order)
	for k, j := range order {
		w := 1 / float64(n+2)
		if k > 0 {
			w = math.Max(w, centres[j]-centres[order[k-1]])
		}
		if k < n-1 {
			w = math.Max(w, centres[order[k+1]]-centres[j])
		}
		widths[j] = w
	}
	if n == 1 {
		j := order[0]
		widths[j] = math.Max(centres[j], 1-centres[j])
	}
}

// ascending returns the order of the existing centres.
func ascending(centres []float64) []int {
	order := make([]int, 0, len(centres))
	for j, x := range centres {
		if math.IsNaN(x) {
			continue
		}
		order = append(order, j)
		for k := len(order) - 1; k > 0 && centres[order[k-1]] > x; k-- {
			order[k-1], order[k] = order[k], order[k-1]
		}
	}
	return order
}

// same sets all widths to w.
func same(w float64) func(centres, widths []float64) {
	return func(_, widths []float64) {
		for j := range widths {
			widths[j] = w
		}
	}
}
