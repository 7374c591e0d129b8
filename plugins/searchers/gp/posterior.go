package gp

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// shapes remembers the last shape that was fitted for one objective. It is made for
// the first trials that count, up to a number that grows by a sixteenth at a time, and
// so depends on nothing but the history.
type shapes struct {
	known             bool
	trials, revisions int
	shape             shape
}

// milestone is the largest number up to n of trials that shapes are fitted for.
func milestone(n int) int {
	m := 1
	for next := m; next <= n; next += max(1, next/16) {
		m = next
	}
	return m
}

// posterior is the model of what is known now; nil where it cannot be made.
func (s *searcher) posterior(rng space.Source) *model {
	h := s.history
	places, losses := s.data(len(h.counted), s.options.MaxTrials, rng)
	y := warp(losses)
	var shape shape
	if h.objectives == 1 {
		shape = s.fitted()
	} else {
		shape = s.fitTo(places, losses)
	}
	if rng.Float64() < wary {
		shape = shape.shorter()
	}
	waiting := h.waiting()
	m := newModel(shape, s.at(places), y, s.numbers, len(waiting))
	if m == nil {
		return nil
	}
	for _, x := range waiting {
		m.pend(x)
	}
	return m
}

const (
	// wary is the share of suggestions for which the function is taken to vary ten
	// times as much as the fit says, in squared length scales: they look where the
	// model should be sure, and find out where it is wrong to be.
	wary = 0.2
	// variation is that factor.
	variation = 10
)

// shorter is a shape with shorter length scales.
func (s shape) shorter() shape {
	s.rates = slices.Clone(s.rates)
	for k := range s.rates {
		s.rates[k] *= variation
	}
	return s
}

// data are at most limit of the first n trials that count, and their losses.
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

// fitted is the shape for one objective.
func (s *searcher) fitted() shape {
	h := s.history
	n := milestone(len(h.counted))
	if f := &s.shapes; f.known && f.trials == n && f.revisions == h.revisions {
		return f.shape
	}
	places, losses := s.data(n, s.fitLimit(maxFit), nil)
	s.shapes = shapes{true, n, h.revisions, fit(s.at(places), warp(losses), s.numbers)}
	return s.shapes.shape
}

const (
	// maxFit is how many trials a shape is fitted to, and maxFitEach where it is
	// for each suggestion anew.
	maxFit, maxFitEach = 200, 80
)

// fitLimit is limit, or less with hundreds of parameters, so that the distances of
// all pairs need not more than 32 MiB.
func (s *searcher) fitLimit(limit int) int {
	const cells = 1 << 22
	return min(limit, max(10, int(math.Sqrt(2*cells/float64(len(s.order))))))
}

// fitTo is the shape for one mixture of objectives.
func (s *searcher) fitTo(places []int, losses []float64) shape {
	places, losses = s.history.choose(places, losses, s.fitLimit(maxFitEach))
	return fit(s.at(places), warp(losses), s.numbers)
}
