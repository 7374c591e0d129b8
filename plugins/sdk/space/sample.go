package space

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Source is where randomness comes from: uniform numbers in [0, 1).
// *rand.Rand is one.
type Source interface {
	Float64() float64
}

// maxTries is how many draws are tested against the constraints.
const maxTries = 10_000

// ErrTight says that sampling did not find a point that satisfies the
// constraints.
var ErrTight = errors.New("no point satisfies the constraints in 10000 draws: they are too tight for sampling; narrow the parameters' bounds instead, or loosen the constraints")

// NewRand is the generator of a request's seed: PCG-DXSM, whose numbers are the
// same on every machine.
func NewRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x74756e65686f7374))
}

// Draw draws a value for every parameter, whether it exists or not, one number of
// rng for each in order. So a parameter's value depends neither on conditions nor
// on other values, and what is drawn can be laid under given values ([Complete]).
func (s *Space) Draw(rng Source) Point {
	p := make(Point, len(s.Params))
	for i := range p {
		p[i] = s.FromUnit(i, rng.Float64())
	}
	return p
}

// Sample draws a point by each parameter's own distribution (see
// [Space.FromUnit]), again where constraints do not hold; the error is [ErrTight].
// The same numbers of rng give the same point, bit by bit, on every machine:
// nothing but exactly defined operations stands between them (portable.go).
func (s *Space) Sample(rng Source) (Point, error) {
	return s.SampleGiven(rng, nil)
}

// SampleGiven is Sample with the values of given, where not NaN, fixed. Those of
// parameters that do not exist are dropped.
func (s *Space) SampleGiven(rng Source, given Point) (Point, error) {
	for range maxTries {
		if p := s.Complete(given, s.Draw(rng)); s.Holds(p) {
			return p, nil
		}
	}
	return nil, ErrTight
}

// Complete lays points over each other: a parameter's value is the first that is
// not NaN. Parameters that then do not exist are dropped; those that no layer has
// stay NaN, so the last layer is best one from [Space.Draw]. Layers may be nil.
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
