package gp

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// shapes caches the last shape fitted for one objective. It is fitted to the first trials that
// count, up to a number that grows by a sixteenth at a time, so it depends only on the history.
type shapes struct {
	known                    bool
	trials, revisions, limit int
	shape                    kernelParams
}

// milestone returns the largest number of trials up to n for which shapes are fitted.
func milestone(n int) int {
	m := 1
	for next := m; next <= n; next += max(1, next/16) {
		m = next
	}
	return m
}

// posterior returns the current model, or nil if it cannot be computed.
func (s *searcher) posterior(rng space.Source) *model {
	h := s.history
	places, losses := s.data(len(h.counted), s.maxTrials(), rng)
	if h.objectives > 1 {
		places, losses = h.withStopped(places, losses)
	}
	y := warp(losses)
	var shape kernelParams
	if h.objectives == 1 {
		shape = s.fitted()
	} else {
		shape = s.fitTo(places, losses)
	}
	last := &s.last
	if rng.Float64() < wary {
		shape, last = shape.shorter(), &s.wary
	}
	waiting := h.waiting()
	m := newModel(*last, shape, s.at(places), y, s.numbers, len(waiting))
	if m == nil {
		return nil
	}
	for _, x := range waiting {
		m.pend(x)
	}
	*last = m
	return m
}

const (
	// maxWhileStopping is the maximum number of trials in the model and in a fit while trials are stopped
	// early, and candidatesWhileStopping the share of the candidates: then there are more trials, which
	// cost less, so that suggestions are to cost less, too.
	maxWhileStopping        = 120
	candidatesWhileStopping = 0.5
)

func (s *searcher) maxTrials() int {
	if s.history.fidelity.Stopping() {
		return min(s.options.MaxTrials, maxWhileStopping)
	}
	return s.options.MaxTrials
}

func (s *searcher) candidates() int {
	if s.history.fidelity.Stopping() {
		return int(candidatesWhileStopping * float64(s.options.Candidates))
	}
	return s.options.Candidates
}

const (
	// wary is the share of suggestions for which the function is assumed to vary ten times as much
	// as fitted, in squared length scales: they explore where the model claims to be certain, and
	// detect errors.
	wary = 0.2
	// variation is that factor.
	variation = 10
)

// shorter returns a shape with shorter length scales.
func (s kernelParams) shorter() kernelParams {
	s.rates = slices.Clone(s.rates)
	for k := range s.rates {
		s.rates[k] *= variation
	}
	return s
}

// data returns at most limit of the first n trials that count, and their losses.
func (s *searcher) data(n, limit int, rng space.Source) (places []int, losses []float64) {
	places = s.history.counted[:n]
	return s.history.choose(places, s.history.scalarise(places, rng), limit)
}

func (s *searcher) at(places []int) [][]float64 {
	x := make([][]float64, len(places))
	for k, i := range places {
		x[k] = s.history.trials[i].x
	}
	return x
}

// fitted returns the shape for one objective.
func (s *searcher) fitted() kernelParams {
	h := s.history
	n, limit := milestone(len(h.counted)), s.fitLimit(maxFit)
	if h.fidelity.Stopping() {
		limit = min(limit, maxWhileStopping)
	}
	if f := &s.shapes; f.known && f.trials == n && f.revisions == h.revisions && f.limit == limit {
		return f.shape
	}
	places, losses := s.data(n, limit, nil)
	s.shapes = shapes{true, n, h.revisions, limit, fit(s.at(places), warp(losses), s.numbers, bend)}
	return s.shapes.shape
}

const (
	// maxFit is how many trials a shape is fitted to, and maxFitEach if it is fitted for each
	// suggestion.
	maxFit, maxFitEach = 200, 80
)

// fitLimit returns limit, or less with hundreds of parameters, so that the distances of all pairs
// need at most 32 MiB.
func (s *searcher) fitLimit(limit int) int {
	const cells = 1 << 22
	return min(limit, max(10, int(math.Sqrt(2*cells/float64(len(s.order))))))
}

// fitTo returns the shape for one combination of objectives.
func (s *searcher) fitTo(places []int, losses []float64) kernelParams {
	places, losses = s.history.choose(places, losses, s.fitLimit(maxFitEach))
	return fit(s.at(places), warp(losses), s.numbers, 0)
}
