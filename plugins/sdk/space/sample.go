package space

import (
	"errors"
	"math"
	"math/rand/v2"
)

// A Source provides uniform random numbers in [0, 1). *rand.Rand is one.
type Source interface {
	Float64() float64
}

// maxTries is the number of draws that are tested against the constraints.
const maxTries = 10_000

// ErrTight means that sampling did not find a point that satisfies the constraints.
var ErrTight = errors.New("no point satisfies the constraints in 10000 draws: they are too tight for sampling;" +
	" narrow " +
	"the parameters' bounds instead, or loosen the constraints")

// NewRand returns the generator of a request's seed: PCG-DXSM, whose numbers are the same on every
// machine.
func NewRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x74756e65686f7374))
}

// Draw draws a value for every parameter, whether it exists or not, with one number of rng for
// each, in order. So a parameter's value depends neither on conditions nor on other values, and the
// point can be the last layer of [Space.Complete].
func (s *Space) Draw(rng Source) Point {
	p := make(Point, len(s.Params))
	for i := range p {
		p[i] = s.FromUnit(i, rng.Float64())
	}
	return p
}

// Sample draws a point by each parameter's own distribution (see [Space.FromUnit]), and repeats if
// constraints do not hold. The error is [ErrTight]. The same numbers of rng give the same bits on
// every machine, because only exactly defined operations are used (portable.go).
func (s *Space) Sample(rng Source) (Point, error) {
	return s.SampleGiven(rng, nil)
}

// SampleGiven is Sample with the non-NaN values of given fixed. Values of parameters that do not
// exist are dropped.
func (s *Space) SampleGiven(rng Source, given Point) (Point, error) {
	for range maxTries {
		if p := s.Complete(given, s.Draw(rng)); s.Holds(p) {
			return p, nil
		}
	}
	return nil, ErrTight
}

// Complete merges points: a parameter has the first value that is not NaN. Values of parameters
// that then do not exist are dropped; parameters without a value stay NaN, so the last layer is
// usually from [Space.Draw]. Layers may be nil.
func (s *Space) Complete(layers ...Point) Point {
	p := make(Point, len(s.Params))
	for i := range p {
		p[i] = math.NaN()
		for _, layer := range layers {
			if i < len(layer) && !math.IsNaN(layer[i]) {
				p[i] = layer[i]
				break
			}
		}
	}
	s.Prune(p)
	return p
}
