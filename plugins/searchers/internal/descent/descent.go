// Package descent finds minima of smooth functions inside a box, with the same bits on every
// machine: the limited-memory method of C. Broyden, R. Fletcher, D. Goldfarb and D. Shanno
// (L-BFGS), with steps projected into the box. gonum's functions have no bounds, and use assembly
// with a machine-dependent order of sums.
package descent

import (
	"math"

	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
)

// A Function returns its value at x and writes its gradient; it returns +Inf where it is undefined.
type Function func(x, gradient []float64) float64

// Limits are the stopping criteria.
type Limits struct {
	Iterations int
	// Gradient: the largest component that does not point out of the box is at most this.
	Gradient float64
	// Progress: an iteration reduced the value by at most this.
	Progress float64
}

// memory is the number of steps from which the curvature is estimated.
const memory = 8

// search is the state of a minimisation.
type search struct {
	f             Function
	low, high     []float64
	x, g          []float64
	value         float64
	steps, bends  [][]float64 // the last steps, and the changes of the gradient
	nextX, nextG  []float64
	direction, mu []float64
}

// Minimise moves x, which lies in the box from low to high, downhill, and returns the value there.
func Minimise(f Function, x, low, high []float64, limits Limits) float64 {
	n := len(x)
	s := &search{f: f, low: low, high: high, x: x, g: make([]float64, n), nextX: make([]float64, n),
		nextG: make([]float64, n), direction: make([]float64, n), mu: make([]float64, memory)}
	s.value = f(x, s.g)
	for range limits.Iterations {
		if s.steepest() <= limits.Gradient {
			break
		}
		before := s.value
		if !s.advance() || before-s.value <= limits.Progress {
			break
		}
	}
	return s.value
}

// stuck reports whether coordinate i is at a bound and its descent points outside.
func (s *search) stuck(i int) bool {
	return s.x[i] <= s.low[i] && s.g[i] > 0 || s.x[i] >= s.high[i] && s.g[i] < 0
}

// steepest returns the largest relevant component of the gradient.
func (s *search) steepest() (most float64) {
	for i, g := range s.g {
		if !s.stuck(i) {
			most = math.Max(most, math.Abs(g))
		}
	}
	return most
}

// advance makes an iteration; it returns false if no step leads down.
func (s *search) advance() bool {
	if !s.aim() {
		s.steps, s.bends = nil, nil
		s.aim()
	}
	step := 1.0
	if len(s.steps) == 0 {
		step = math.Min(1, 0.1*s.width()/s.longest())
	}
	for range 20 {
		if s.try(step) {
			s.remember()
			return true
		}
		step *= 0.3
	}
	if len(s.steps) == 0 {
		return false
	}
	s.steps, s.bends = nil, nil // the curvature may be misleading
	return s.advance()
}

// aim sets the direction; it returns false if it does not lead down.
func (s *search) aim() bool {
	d := s.direction
	for i, g := range s.g {
		d[i] = -g
		if s.stuck(i) {
			d[i] = 0
		}
	}
	s.applyInverse(d)
	slope := 0.0
	for i, g := range s.g {
		if s.stuck(i) {
			d[i] = 0
		}
		slope += float64(g * d[i])
	}
	return slope < 0
}

// applyInverse multiplies d by the estimated inverse of the second derivatives.
func (s *search) applyInverse(d []float64) {
	for k := len(s.steps) - 1; k >= 0; k-- {
		s.mu[k] = dense.Dot(s.steps[k], d) / dense.Dot(s.steps[k], s.bends[k])
		dense.Add(d, -s.mu[k], s.bends[k])
	}
	if k := len(s.steps) - 1; k >= 0 {
		scale := dense.Dot(s.steps[k], s.bends[k]) / dense.Dot(s.bends[k], s.bends[k])
		for i := range d {
			d[i] *= scale
		}
	}
	for k := range s.steps {
		back := dense.Dot(s.bends[k], d) / dense.Dot(s.steps[k], s.bends[k])
		dense.Add(d, s.mu[k]-back, s.steps[k])
	}
}

// width returns the largest width of the box.
func (s *search) width() (most float64) {
	for i := range s.x {
		most = math.Max(most, s.high[i]-s.low[i])
	}
	return most
}

// longest returns the largest component of the direction.
func (s *search) longest() (most float64) {
	for _, d := range s.direction {
		most = math.Max(most, math.Abs(d))
	}
	return most
}

// try reports whether a step decreases the value about as much as the slope predicts.
func (s *search) try(step float64) bool {
	const share = 1e-4
	fall := 0.0
	for i, x := range s.x {
		s.nextX[i] = math.Max(s.low[i], math.Min(s.high[i], x+float64(step*s.direction[i])))
		fall += float64(s.g[i] * (s.nextX[i] - x))
	}
	value := s.f(s.nextX, s.nextG)
	if !(value <= s.value+float64(share*fall)) || fall >= 0 {
		return false
	}
	s.value = value
	return true
}

// remember takes the step and updates the curvature.
func (s *search) remember() {
	n := len(s.x)
	step, bend := make([]float64, n), make([]float64, n)
	for i := range step {
		step[i], bend[i] = s.nextX[i]-s.x[i], s.nextG[i]-s.g[i]
	}
	copy(s.x, s.nextX)
	copy(s.g, s.nextG)
	if dense.Dot(step, bend) <= 1e-10*dense.Dot(bend, bend) {
		return
	}
	if len(s.steps) == memory {
		s.steps, s.bends = s.steps[1:], s.bends[1:]
	}
	s.steps, s.bends = append(s.steps, step), append(s.bends, bend)
}
