package space

import "math"

// maxExact is the largest integer up to which float64 holds every integer.
const maxExact = 1 << 53

// lattice is the set of values k·step for integers k in [first, last]: integers,
// stepped reals and the indices of choices.
type lattice struct {
	first, last, step float64
}

// lattice returns the values of p, or false where they are a continuum (or, for
// Normal, without end).
func (p *Param) lattice() (lattice, bool) {
	switch {
	case p.Kind == Choice || p.Kind == Ordinal:
		return lattice{0, float64(len(p.Choices) - 1), 1}, true
	case p.Kind == Int && p.Step == 0:
		return lattice{p.Low, p.High, 1}, true
	case p.Kind == Int || p.Kind == Real && p.Step > 0:
		return lattice{-nearFloor(-p.Low / p.Step), nearFloor(p.High / p.Step), p.Step}, true
	}
	return lattice{}, false
}

// nearFloor is the floor of x, or the integer above when x misses it by no more
// than rounding: 0.3/0.1 is 3.
func nearFloor(x float64) float64 {
	near := math.Round(x)
	if math.Abs(x-near) <= 1e-9+float64(1e-15*math.Abs(x)) {
		return near
	}
	return math.Floor(x)
}

// count is how many values there are.
func (l lattice) count() float64 { return l.last - l.first + 1 }

// value is the k-th multiple of step.
func (l lattice) value(k float64) float64 { return multiple(k, l.step) }

// nearest is the k whose value is nearest to x.
func (l lattice) nearest(x float64) float64 {
	k := math.RoundToEven(x / l.step)
	return math.Max(l.first, math.Min(l.last, k)) + 0
}

// isMultiple says whether x is the k-th multiple of step, as near as rounding
// gets: within a billionth of a step or 1e-15 of x.
func isMultiple(x, step, k float64) bool {
	return math.Abs(x-multiple(k, step)) <= float64(1e-9*step)+float64(1e-15*math.Abs(x))
}

// multiple is k·step as people write it: three steps of 0.1 are 0.3, which the
// product in binary is not. Where step is a short decimal m/10^d, k·m/10^d has one
// rounding only.
func multiple(k, step float64) float64 {
	power := 1.0
	for range 15 {
		m := math.RoundToEven(step * power)
		if m/power == step && math.Abs(k*m) <= maxExact {
			return k*m/power + 0 // + 0: no negative zero
		}
		power *= 10
	}
	return float64(k*step) + 0
}
