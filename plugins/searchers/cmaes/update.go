package cmaes

import (
	"cmp"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/cube"
	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
)

// A step is a trial of a generation, as the update uses it.
type step struct {
	trial uint32
	loss  float64
	at    []float64 // in coordinates; NaN: does not exist
	// y is the distance from the mean, in units of sigma, and z is y transformed into independent
	// components.
	y, z []float64
}

// learn updates the distribution with a generation.
func (s *strategy) learn(trials []*outcomes.Outcome) {
	steps := s.steps(trials)
	losses := make([]float64, len(steps))
	for i := range steps {
		losses[i] = steps[i].loss
	}
	if len(steps) != len(s.rates.weights) {
		s.rates = newRates(len(steps), len(s.numbers))
	}
	weights := s.rates.shared(losses)
	s.generations++
	s.learnChoices(steps, weights, choiceRate)
	if len(s.numbers) > 0 {
		s.learnNumbers(steps, weights)
	}
	s.watch.add(s, losses)
}

// steps returns the trials, best first.
func (s *strategy) steps(trials []*outcomes.Outcome) []step {
	list := make([]step, len(trials))
	for i, t := range trials {
		list[i] = step{trial: t.Trial, loss: t.Losses[0], at: cube.Of(s.axes, t.Point)}
	}
	fill := s.newFiller()
	for i := range list {
		s.place(&list[i], fill)
	}
	slices.SortStableFunc(list, func(a, b step) int { return cmp.Compare(a.loss, b.loss) })
	return list
}

// place sets y and z. Trials that are farther away than the distribution allows, because they were
// drawn from another one, are moved nearer (N. Hansen, Injecting External Solutions Into CMA-ES,
// 2011).
func (s *strategy) place(t *step, fill *filler) {
	x := fill.complete(t)
	for j := range x {
		x[j] = (x[j] - s.mean[j]) / s.sigma
	}
	t.y, t.z = x, slices.Clone(x)
	dense.Solve(s.root, t.z)
	d := float64(len(x))
	longest := math.Sqrt(d) + 2*d/(d+2)
	if length := norm(t.z); length > longest {
		times(t.y, longest/length)
		times(t.z, longest/length)
	}
}

// learnNumbers updates the mean, the step size and the covariance.
func (s *strategy) learnNumbers(steps []step, weights []float64) {
	before := s.snapshot()
	r, d := s.rates, len(s.numbers)
	y, z := make([]float64, d), make([]float64, d)
	for i, w := range weights {
		if w > 0 {
			dense.Add(y, w, steps[i].y)
			dense.Add(z, w, steps[i].z)
		}
	}
	dense.Add(s.mean, s.sigma, y)
	times(s.path, 1-r.path)
	dense.Add(s.path, math.Sqrt(r.path*(2-r.path)*r.mass), z)
	far := s.far()
	times(s.center, 1-r.center)
	if !far {
		dense.Add(s.center, math.Sqrt(r.center*(2-r.center)*r.mass), y)
	}
	s.updateCovariance(steps, weights, far)
	s.sigma *= exp(math.Min(1, r.path/r.damping*(norm(s.path)/r.length-1)))
	s.settle(before)
}

// far reports whether the path of sigma is so long that sigma is about to grow; then the
// covariance's path stalls.
func (s *strategy) far() bool {
	r, d := s.rates, float64(len(s.numbers))
	left := 1 - exp(2*float64(s.generations)*ln(1-r.path))
	return norm(s.path)/math.Sqrt(left) >= (1.4+2/(d+1))*r.length
}

// updateCovariance updates the covariance.
func (s *strategy) updateCovariance(steps []step, weights []float64, far bool) {
	r, sum := s.rates, 0.0
	for _, w := range weights {
		sum += w
	}
	keep := 1 - r.one - float64(r.many*sum)
	if far {
		keep += float64(r.one * r.center * (2 - r.center))
	}
	for i, row := range s.covariance {
		times(row[:i+1], keep)
		dense.Add(row[:i+1], r.one*s.center[i], s.center)
	}
	for k, t := range steps {
		w := r.many * weights[k]
		if length := norm(t.z); w < 0 && length > 0 {
			w *= float64(len(t.z)) / float64(length*length)
		}
		for i, row := range s.covariance {
			dense.Add(row[:i+1], w*t.y[i], t.y[:i+1])
		}
	}
}

// settle completes the update: it applies adapted rates, keeps the mean inside the box, computes
// the root, keeps margins, and limits sigma to the width of the space.
func (s *strategy) settle(before *snapshot) {
	if s.pace != nil {
		s.pace.shortenStep(s, before)
	}
	for j := range s.mean {
		a := s.axis(j)
		s.mean[j] = math.Max(a.Low, math.Min(a.High, s.mean[j]))
	}
	if !s.factorise() {
		s.covariance = dense.Identity(len(s.mean))
		s.center = make([]float64, len(s.mean))
		s.factorise()
	}
	widest := 0.0
	for j := range s.mean {
		widest = math.Max(widest, s.covariance[j][j])
	}
	s.sigma = math.Min(s.sigma, 1/math.Sqrt(widest))
	s.keepMargin()
}

// factorise sets root, and returns false if the covariance has none.
func (s *strategy) factorise() bool {
	for i, row := range s.covariance {
		copy(s.root[i], row[:i+1])
	}
	return dense.Cholesky(s.root, 0)
}

func norm(x []float64) float64 { return math.Sqrt(dense.Dot(x, x)) }

func times(x []float64, factor float64) {
	for i := range x {
		x[i] *= factor
	}
}
