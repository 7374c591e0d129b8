package tpe

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// A mixture is a density over the parameters of a group and those above it: a kernel around each of
// some trials, and the prior, the space's own distribution, which is the last kernel. A kernel is a
// product over the parameters: a truncated normal distribution, or for a choice the trial's
// category with most of the mass; for a parameter that a trial lacks it is the prior.
type mixture struct {
	trials []int
	// known and free are the columns of the known parameters and of the others.
	known, free []column
	// shares are the logarithms of the kernels' shares in the density of the free parameters, given
	// the known ones; logs also have the constant factors of the free parameters' densities. The
	// shares are not normalised.
	shares, logs []float64
	// chances are the shares, with the sum 1, once a kernel was picked.
	chances []float64
	room    []float64 // of the columns
}

// A column has the kernels along one parameter.
type column struct {
	coordinate *coordinate
	// centre and the others have one entry for each kernel. The prior's scale is 0 if it is
	// uniform. scale is the inverse of the width, divided by √2. divisor is the inverse of the height at the centre, and 0
	// for the prior.
	centre, width, scale, divisor []float64
	// stay is the logarithm of how much more often a choice is the trial's than another one; move
	// is the mass shared equally by all choices.
	stay, move float64
}

// parts are the inputs of a mixture.
type parts struct {
	trials  []int       // in the order of their indices, if there is a mixture before
	at      [][]float64 // points of the trials, in coordinates
	weights []float64
	prior   float64 // its weight
	// width sets the widths of the numbers' kernels, given their centres, before they are limited
	// by cells and bounds.
	width func(centres, widths []float64)
	// before is a mixture with the same widths, or nil: what takes long is copied from it for the trials of both.
	before *mixture
	place  []int // of each trial in the mixture before, or -1
	// room is used for the kernels if it is large enough.
	room []float64
}

// perKernel is how many numbers a kernel has along a parameter.
const perKernel = 4

// rootOfTwoPi is the ratio of a normal distribution's width to the inverse of its height.
var rootOfTwoPi = math.Sqrt(2 * math.Pi)

// newMixture returns the density of the parameters free, given the coordinates at of the parameters
// known, some of which may be missing (NaN).
func newMixture(coordinates []coordinate, known, free []int, at []float64, p parts) *mixture {
	m := &mixture{trials: p.trials, logs: make([]float64, len(p.at)+1)}
	product := append(slices.Clone(p.weights), p.prior)
	before := p.before
	if before == nil {
		before = &mixture{}
	}
	p.place = places(p.trials, before.trials)
	if need := perKernel * len(m.logs) * (len(known) + len(free)); len(p.room) < need {
		p.room = make([]float64, need)
	}
	m.room = p.room
	m.known = m.fit(coordinates, known, p, before.known, product)
	p.room = p.room[perKernel*len(m.logs)*len(known):]
	for k, i := range known {
		if x := at[i]; x == x {
			m.known[k].addLogs(x, m.logs)
		}
	}
	m.shares = slices.Clone(m.logs)
	m.free = m.fit(coordinates, free, p, before.free, product)
	return m
}

// places returns for each of the trials its place in another list, or -1. Both are ascending.
func places(trials, list []int) []int {
	of, k := make([]int, len(trials)), 0
	for j, i := range trials {
		for k < len(list) && list[k] < i {
			k++
		}
		if of[j] = -1; k < len(list) && list[k] == i {
			of[j] = k
		}
	}
	return of
}

// fit creates columns, and adds the logarithms of product and of the densities' constant factors to
// logs. It sets product to 1. before are columns of the mixture before, mostly of the same parameters.
func (m *mixture) fit(coordinates []coordinate, indices []int, p parts, before []column, product []float64) []column {
	n := len(product)
	columns := make([]column, len(indices))
	room := p.room
	for k, i := range indices {
		c := &columns[k]
		c.coordinate = &coordinates[i]
		c.centre, c.width, c.scale, c.divisor = room[:n], room[n:2*n], room[2*n:3*n], room[3*n:perKernel*n]
		room = room[perKernel*n:]
		for j, at := range p.at {
			c.centre[j] = at[i]
		}
		if c.coordinate.choices > 0 {
			c.fitChoice(p.prior/float64(n), product)
		} else {
			clear(c.scale)
			clear(c.divisor)
			p.width(c.centre[:n-1], c.width[:n-1])
			if k < len(before) && before[k].coordinate == c.coordinate {
				c.copyFrom(&before[k], p.place)
			}
			c.fitNumber(product)
		}
		if k%16 == 15 { // larger products might overflow
			m.absorb(product)
		}
	}
	m.absorb(product)
	return columns
}

// absorb adds the logarithms of factors to logs and sets them to 1.
func (m *mixture) absorb(factors []float64) {
	for j := range factors {
		m.logs[j] += portable.Log(factors[j])
		factors[j] = 1
	}
}

// fitChoice distributes the mass such that each choice other than the trial's has the share pseudo
// of the trial's additional mass.
func (c *column) fitChoice(pseudo float64, product []float64) {
	choices := float64(c.coordinate.choices)
	prior := len(product) - 1
	c.centre[prior] = math.NaN()
	all := 1 + float64(choices*pseudo)
	c.stay = portable.Log((1 + pseudo) / pseudo)
	c.move = choices * pseudo / all
	for j := range product {
		if math.IsNaN(c.centre[j]) {
			product[j] /= choices
		} else {
			product[j] *= pseudo / all
		}
	}
}

// copyFrom copies the kernels of another column with the same widths, for the trials that have a place there. Kernels of
// the same trial may have different centres, because a suggestion can take the place of another one.
func (c *column) copyFrom(other *column, place []int) {
	for j, k := range place {
		if k >= 0 && other.centre[k] == c.centre[j] && other.divisor[k] != 0 {
			c.width[j], c.scale[j], c.divisor[j] = other.width[k], other.scale[k], other.divisor[k]
		}
	}
}

// fitNumber computes the kernels without a divisor.
func (c *column) fitNumber(product []float64) {
	c.centre[len(product)-1] = math.NaN()
	for j, x := range c.centre {
		if x != x {
			c.fitPrior(j, product)
			continue
		}
		if c.divisor[j] == 0 {
			c.fitKernel(j)
		}
		product[j] /= c.divisor[j]
	}
}

func (c *column) fitKernel(j int) {
	x, low, high := c.centre[j], c.coordinate.low, c.coordinate.high
	w := max(min(c.width[j], 1), 0.5*c.coordinate.cellAt(x))
	mass := portable.CDF((high-x)/w) - portable.CDF((low-x)/w)
	c.width[j], c.scale[j], c.divisor[j] = w, math.Sqrt2/2/w, rootOfTwoPi*mass*w
}

// fitPrior makes kernel j the space's own distribution.
func (c *column) fitPrior(j int, product []float64) {
	c.centre[j] = 0
	if c.coordinate.normal() {
		c.width[j], c.scale[j] = 1.0/normalWidth, normalWidth*math.Sqrt2/2
		product[j] *= normalWidth / rootOfTwoPi
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

// logDensity returns the logarithm of the density at the free parameters' coordinates x, up to a
// constant factor. sums is a buffer with one number per kernel.
func (m *mixture) logDensity(x, sums []float64) float64 {
	copy(sums, m.logs)
	for k := range m.free {
		m.free[k].addLogs(x[k], sums)
	}
	return logSum(sums)
}

// logSum returns the logarithm of the sum of the exponentials of logs, which it overwrites.
func logSum(logs []float64) float64 {
	const least = -37 // e to that is less than a rounding error of 1
	top, n := logs[0], 0
	for _, l := range logs {
		if l > top {
			top = l
		}
	}
	for _, l := range logs {
		if d := l - top; d > least {
			logs[n] = d
			n++
		}
	}
	portable.Exps(logs[:n])
	sum := 0.0
	for _, x := range logs[:n] {
		sum += x
	}
	return top + portable.Log(sum)
}

// pick returns the kernel whose share contains u, in [0, 1).
func (m *mixture) pick(u float64) int {
	if m.chances == nil {
		m.divide()
	}
	for j, chance := range m.chances {
		u -= chance
		if u < 0 {
			return j
		}
	}
	return len(m.chances) - 1
}

// divide sets chances.
func (m *mixture) divide() {
	m.chances = slices.Clone(m.shares)
	all := logSum(m.chances)
	for j, share := range m.shares {
		m.chances[j] = share - all
	}
	portable.Exps(m.chances)
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
func ascending(centres []float64) (order []int) {
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
