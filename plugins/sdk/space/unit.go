package space

import "math"

// FromUnit returns the value of parameter i at u, a position in [0, 1] under the parameter's own
// distribution, so that a uniform u gives a sample. u is clamped to [0, 1]; NaN stays.
//
//   - Real: uniform, or uniform in the logarithm, from Low at 0 to High at 1.
//   - Int, stepped Real, choices: every value has the same mass. With Log each value has the mass of its cell,
//     half a step to either side, on the logarithmic scale, including the first and last value.
//   - Normal: the quantile, within 8.3 standard deviations, then rounded to Step.
//
// The same u gives the same bits on every machine and in every language that follows portable.go.
func (s *Space) FromUnit(i int, u float64) float64 {
	if math.IsNaN(u) {
		return u
	}
	p, u := &s.Params[i], max(0, min(1, u))
	if p.Kind == Normal {
		return p.fromNormal(u)
	}
	if l, ok := p.lattice(); ok {
		return l.fromUnit(u, p.Log)
	}
	return p.fromReal(u)
}

func (p *Param) fromReal(u float64) float64 {
	x := 0.0
	switch {
	case u == 0 || p.Low == p.High:
		return p.Low
	case u == 1:
		return p.High
	case p.Log:
		low := ln(p.Low)
		x = exp(low + float64(u*(ln(p.High)-low)))
	default:
		x = p.Low + float64(u*(p.High-p.Low))
	}
	return max(p.Low, min(p.High, x))
}

func (p *Param) fromNormal(u float64) float64 {
	const edge = 1.0 / (1 << 53)
	z := quantile(max(edge/2, min(1-edge, u)))
	x := p.Mean + float64(p.SD*z)
	if p.Step > 0 {
		return multiple(math.RoundToEven(x/p.Step), p.Step)
	}
	return x
}

func (l lattice) fromUnit(u float64, log bool) float64 {
	k := l.first + math.Floor(u*l.count())
	if log {
		low, width := l.logCells()
		k = math.Round(exp(low + float64(u*width)))
	}
	return l.value(max(l.first, min(l.last, k)))
}

// logCells returns the logarithm of the first cell's lower edge, and the width up to the last
// cell's upper edge.
func (l lattice) logCells() (low, width float64) {
	low = ln(l.first - 0.5)
	return low, ln(l.last+0.5) - low
}

// ToUnit returns the position of value x of parameter i in [0, 1], such that FromUnit(i, ToUnit(i,
// x)) is x, up to rounding for continuous values. For other values it is inside their cell; for a
// single value it is 0.5. Values outside of the bounds are at the end: those of an open parameter may be any number.
func (s *Space) ToUnit(i int, x float64) float64 {
	p := &s.Params[i]
	if p.Kind == Normal {
		return 0.5 * math.Erfc((p.Mean-x)/(p.SD*math.Sqrt2))
	}
	u := 0.5
	if l, ok := p.lattice(); ok {
		u = l.toUnit(x, p.Log)
	} else if p.Low < p.High && p.Log {
		u = (ln(max(x, p.Low)) - ln(p.Low)) / (ln(p.High) - ln(p.Low))
	} else if p.Low < p.High {
		u = (x - p.Low) / (p.High - p.Low)
	}
	return max(0, min(1, u))
}

func (l lattice) toUnit(x float64, log bool) float64 {
	switch {
	case l.first == l.last:
		return 0.5
	case log:
		low, width := l.logCells()
		return (ln(max(x/l.step, l.first-0.5)) - low) / width
	}
	return (x/l.step - l.first + 0.5) / l.count()
}

// Quantise returns the allowed value of parameter i that is nearest to x: inside its bounds and on
// its steps. NaN stays.
func (s *Space) Quantise(i int, x float64) float64 {
	p := &s.Params[i]
	if math.IsNaN(x) {
		return x
	}
	if l, ok := p.lattice(); ok {
		return l.value(l.nearest(x))
	}
	if p.Kind != Normal {
		return max(p.Low, min(p.High, x))
	}
	if p.Step > 0 {
		return multiple(math.RoundToEven(x/p.Step), p.Step)
	}
	return x
}
