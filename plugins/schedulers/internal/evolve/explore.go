package evolve

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A Perturber changes points of a space at random. Its fields do not change after [NewPerturber].
type Perturber struct {
	Space    *space.Space
	Resample float64   // probability of a draw instead of a move
	Factors  []float64 // factors for numbers
	Free     []bool    // which parameters may change
}

// NewPerturber lets the named parameters change, or all except grids if none is named.
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

// Ranked does nothing.
func (x *Perturber) Ranked(Standing) {}

// Explore returns the donor's point with small changes.
func (x *Perturber) Explore(_ uint32, from Standing, rng *rand.Rand) space.Point {
	return x.Perturb(from.Point, nil, rng)
}

// Adopt returns the other's point, except for parameters that may not change, because the
// checkpoint depends on them.
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
	// A parameter that comes to exist is copied from the trial that has it, or drawn.
	if p := x.Space.Complete(chosen, donor, other, x.Space.Draw(rng)); x.Space.Holds(p) {
		return p
	}
	return donor
}

// tries is how often a point that violates a constraint is generated again.
const tries = 20

// Perturb changes the donor's point at random, and then calls adjust, if it is not nil.
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
		// Use two numbers for each parameter, so that the change of one does not depend on the kind
		// of another.
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

// move returns the value of parameter i in the factor's direction from v. A value with steps stays at a bound:
// otherwise one of two values would change each time. A number without turns back there. A choice stays.
func (x *Perturber) move(i int, v, factor float64) float64 {
	p := &x.Space.Params[i]
	far, near := distance(p, v, factor), step(p)
	other := -far
	if near > 0 {
		other = math.Copysign(near, far)
	}
	for _, d := range [2]float64{far, other} {
		if w := x.Space.Quantise(i, v+d); w != v {
			return w
		}
	}
	return v
}

// distance returns how far the factor moves v, with its sign.
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

// step returns the smallest change of a value, or 0 if there is none.
func step(p *space.Param) float64 {
	if p.Kind == space.Int || p.Kind == space.Ordinal {
		return max(1, p.Step)
	}
	return p.Step
}
