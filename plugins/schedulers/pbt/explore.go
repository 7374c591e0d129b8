package pbt

import (
	"math"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// explorer changes points of a space.
type explorer struct {
	space   *space.Space
	options options
	free    []bool // which parameters may change
}

// tries is how often a point that breaks a constraint is made anew.
const tries = 20

// explore is the donor's point, a little changed. See the package's rules.
func (x explorer) explore(donor space.Point, rng *rand.Rand) space.Point {
	for range tries {
		fresh := x.space.Draw(rng)
		if p := x.space.Complete(x.change(donor, fresh, rng), fresh); x.space.Holds(p) {
			return p
		}
	}
	return donor
}

func (x explorer) change(donor, fresh space.Point, rng *rand.Rand) space.Point {
	p := append(space.Point(nil), donor...)
	for i := range p {
		// Two numbers for each parameter, so that one's change does not
		// depend on another's kind.
		again, f := rng.Float64() < x.options.Resample, x.options.Factors[rng.IntN(len(x.options.Factors))]
		switch {
		case !x.free[i] || math.IsNaN(p[i]):
		case again:
			p[i] = fresh[i]
		default:
			p[i] = x.move(i, p[i], f)
		}
	}
	return p
}

// move is the value of parameter i in the factor's direction from v: another
// value, unless the parameter has only one or is a choice.
func (x explorer) move(i int, v, factor float64) float64 {
	p := &x.space.Params[i]
	far, near := distance(p, v, factor), step(p)
	for _, side := range [2]float64{1, -1} {
		for _, d := range [2]float64{far, math.Copysign(near, far)} {
			if w := x.space.Quantise(i, v+side*d); w != v {
				return w
			}
		}
	}
	return v
}

// distance is how far the factor moves v, with its sign.
func distance(p *space.Param, v, factor float64) float64 {
	switch {
	case p.Kind == space.Choice:
		return 0
	case p.Kind == space.Ordinal:
		return math.Copysign(1, factor-1)
	case p.Kind == space.Normal:
		return (factor - 1) * max(math.Abs(v), p.SD)
	case p.Log:
		return (factor - 1) * v
	}
	return (factor - 1) * max(math.Abs(v), (p.High-p.Low)/10)
}

// step is the least that a value moves by.
func step(p *space.Param) float64 {
	if p.Kind == space.Int {
		return max(1, p.Step)
	}
	return p.Step
}
