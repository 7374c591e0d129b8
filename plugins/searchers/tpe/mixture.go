package tpe

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// A mixture is a density over the parameters of a group and those above it: a kernel around each of
// some trials, and the prior, the space's own distribution, which is the last kernel. A kernel is a
// product over the parameters: a truncated normal distribution, or for a choice the trial's
// category with most of the mass; for a parameter that a trial lacks it is the prior.
type mixture struct {
	parts
	// known and free are the columns of the known parameters and of the others.
	known, free []column
	// shares are the logarithms of the kernels' shares in the density of the free parameters, given
	// the known ones; logs also have the constant factors of the free parameters' densities. The
	// shares are not normalised.
	shares, logs []float64
	// chances are the shares, with the sum 1, once a kernel was picked.
	chances []float64
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
	// before is nil or a mixture with the same widths: kernels of the same trials are copied from it.
	before *mixture
	// room is used for the columns if it is large enough.
	room []float64
}

// newMixture returns the density of the parameters free, given the coordinates at of the parameters
// known, some of which may be missing (NaN).
func newMixture(coordinates []coordinate, known, free []int, at []float64, p parts) *mixture {
	n := len(p.at) + 1
	m := &mixture{parts: p, logs: make([]float64, n)}
	if need := perKernel * n * (len(known) + len(free)); len(m.room) < need {
		m.room = make([]float64, need)
	}
	m.known = newColumns(coordinates, known, n, m.room)
	m.free = newColumns(coordinates, free, n, m.room[perKernel*n*len(known):])
	copied := m.copyKernels()
	m.before = nil // it is needed no more
	product := append(slices.Clone(p.weights), p.prior)
	m.fit(m.known, known, copied, product)
	for k, i := range known {
		if x := at[i]; x == x {
			m.known[k].addLogs(x, m.logs)
		}
	}
	m.shares = slices.Clone(m.logs)
	m.fit(m.free, free, copied, product)
	return m
}

// copyKernels copies the kernels of the mixture before for the trials of both, and reports which these are. A kernel
// depends on nothing but its trial's point and its width.
func (m *mixture) copyKernels() (copied []bool) {
	copied = make([]bool, len(m.logs))
	if m.before == nil || !alike(m.known, m.before.known) || !alike(m.free, m.before.free) {
		return copied
	}
	for j, k := 0, 0; j < len(m.trials); {
		n := 0
		for k < len(m.before.trials) && m.before.trials[k] < m.trials[j] {
			k++
		}
		for j+n < len(m.trials) && k+n < len(m.before.trials) && m.trials[j+n] == m.before.trials[k+n] &&
			&m.at[j+n][0] == &m.before.at[k+n][0] { // a suggestion can have the index of another one
			copied[j+n] = true
			n++
		}
		if n == 0 {
			j++
			continue
		}
		copyColumns(m.known, m.before.known, j, k, n)
		copyColumns(m.free, m.before.free, j, k, n)
		j, k = j+n, k+n
	}
	return copied
}

// fit computes the kernels along parameters that were not copied, and adds the logarithms of product and of the
// densities' constant factors to logs. It sets product to 1.
func (m *mixture) fit(columns []column, indices []int, copied []bool, product []float64) {
	for k, i := range indices {
		c := &columns[k]
		for j, at := range m.at {
			if !copied[j] {
				c.centre[j] = at[i]
			}
		}
		c.centre[len(m.at)] = math.NaN()
		if c.coordinate.choices > 0 {
			c.fitChoice(m.prior/float64(len(product)), product)
		} else {
			c.fitNumber(m.width, copied, product)
		}
		if k%16 == 15 { // larger products might overflow
			m.absorb(product)
		}
	}
	m.absorb(product)
}

// absorb adds the logarithms of factors to logs and sets them to 1.
func (m *mixture) absorb(factors []float64) {
	for j := range factors {
		m.logs[j] += portable.Log(factors[j])
		factors[j] = 1
	}
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
		d := l - top
		logs[n] = d
		if d > least {
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
