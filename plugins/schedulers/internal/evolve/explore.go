package evolve

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Perturber changes points of a space at random. Fields do not change after
// [NewPerturber].
type Perturber struct {
	Space    *space.Space
	Resample float64   // probability of a draw instead of a move
	Factors  []float64 // that numbers are moved by
	Free     []bool    // which parameters may change
}

// NewPerturber lets the named parameters change; all but grids when none is named.
func NewPerturber(s *space.Space, o Options) (*Perturber, error) {
	x := &Perturber{Space: s, Resample: o.Resample, Factors: o.Factors, Free: make([]bool, len(s.Params))}
	for i, p := range s.Params {
		x.Free[i] = len(o.Mutate) == 0 && !p.Grid
	}
	for _, name := range o.Mutate {
		i, err := find(s, name)
		if err != nil {
			return nil, err
		}
		x.Free[i] = true
	}
	return x, nil
}

func find(s *space.Space, name string) (int, error) {
	for i, p := range s.Params {
		switch {
		case p.Name == name && p.Grid:
			return 0, fmt.Errorf("option mutate: %q is a grid, whose values the experiment gives", name)
		case p.Name == name:
			return i, nil
		}
	}
	return 0, fmt.Errorf("option mutate: %q is not a parameter of the space", name)
}

// Ranked is nothing to it.
func (x *Perturber) Ranked(Standing) {}

// Explore is the donor's point, a little changed.
func (x *Perturber) Explore(_ uint32, from Standing, rng *rand.Rand) space.Point {
	return x.Perturb(from.Point, nil, rng)
}

// Adopt is the other's point, but for what may not change: the checkpoint depends on that.
func (x *Perturber) Adopt(donor, other space.Point, rng *rand.Rand) space.Point {
	chosen := make(space.Point, len(x.Free))
	for i := range chosen {
		from := donor
		if x.Free[i] {
			from = other
		}
		if chosen[i] = math.NaN(); i < len(from) {
			chosen[i] = from[i]
		}
	}
	// What comes to exist is whose it was, or drawn where it was nobody's.
	if p := x.Space.Complete(chosen, donor, other, x.Space.Draw(rng)); x.Space.Holds(p) {
		return p
	}
	return donor
}

// tries is how often a point that breaks a constraint is made anew.
const tries = 20

// Perturb changes the donor's point at random, and then by adjust, if that is not nil.
func (x *Perturber) Perturb(donor space.Point, adjust func(space.Point), rng *rand.Rand) space.Point {
	for range tries {
		fresh := x.Space.Draw(rng)
		changed := x.change(donor, fresh, rng)
		if adjust != nil {
			adjust(changed)
		}
		if p := x.Space.Complete(changed, fresh); x.Space.Holds(p) {
			return p
		}
	}
	return donor
}

func (x *Perturber) change(donor, fresh space.Point, rng *rand.Rand) space.Point {
	p := append(space.Point(nil), donor...)
	for i := range p {
		// Two numbers for each parameter, so that one's change does not
		// depend on another's kind.
		again, f := rng.Float64() < x.Resample, x.Factors[rng.IntN(len(x.Factors))]
		switch {
		case !x.Free[i] || math.IsNaN(p[i]):
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
func (x *Perturber) move(i int, v, factor float64) float64 {
	p := &x.Space.Params[i]
	far, near := distance(p, v, factor), step(p)
	for _, side := range [2]float64{1, -1} {
		for _, d := range [2]float64{far, math.Copysign(near, far)} {
			if w := x.Space.Quantise(i, v+side*d); w != v {
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
