package space

import "math"

// maxExact is the largest integer up to which float64 is exact for every integer.
const maxExact = 1 << 53

// A lattice is the set of values k·step for integers k in [first, last]: integers, stepped reals
// and indices of choices.
type lattice struct {
	first, last, step float64
}

// lattice returns the values of p, or false if they are continuous (or, for Normal, unbounded).
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

// nearFloor returns the floor of x, or the next integer if x is within rounding of it: 0.3/0.1 is
// 3.
func nearFloor(x float64) float64 {
	near := math.Round(x)
	if math.Abs(x-near) <= 1e-9+float64(1e-15*math.Abs(x)) {
		return near
	}
	return math.Floor(x)
}

// count returns the number of values.
func (l lattice) count() float64 { return l.last - l.first + 1 }

// value returns the k-th multiple of step.
func (l lattice) value(k float64) float64 { return multiple(k, l.step) }

// nearest returns the k whose value is nearest to x.
func (l lattice) nearest(x float64) float64 {
	k := math.RoundToEven(x / l.step)
	return math.Max(l.first, math.Min(l.last, k)) + 0
}

// isMultiple reports whether x is the k-th multiple of step, up to rounding: within a billionth of
// a step or 1e-15 of x.
func isMultiple(x, step, k float64) bool {
	return math.Abs(x-multiple(k, step)) <= float64(1e-9*step)+float64(1e-15*math.Abs(x))
}

// multiple returns k·step as people write it: three steps of 0.1 are 0.3, unlike the product in
// binary. If step is a short decimal m/10^d, k·m/10^d is rounded only once.
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
