package cmaes

import (
	"math"
	"slices"
)

// A watch detects that the search has converged.
type watch struct {
	best    []float64 // the best loss of each of the last generations
	ever    float64   // the best loss ever
	since   int       // generations since the last improvement
	stopped bool
}

// add adds the losses of a generation, best first.
func (w *watch) add(s *strategy, losses []float64) {
	if len(w.best) == 0 || losses[0] < w.ever {
		w.ever, w.since = losses[0], 0
	} else {
		w.since++
	}
	window := 10 + 30*len(s.numbers)/s.size
	w.best = append(w.best, losses[0])
	w.best = w.best[max(0, len(w.best)-window):]
	flat := len(w.best) == window && math.Max(spread(w.best), spread(finite(losses))) <= 1e-12*math.Abs(w.ever)
	w.stopped = flat || w.since > 100+window*5 || s.narrow() || s.degenerate()
}

// spread returns the difference between the largest and the smallest value.
func spread(x []float64) float64 { return slices.Max(x) - slices.Min(x) }

// finite returns the finite losses; losses are sorted, best first.
func finite(losses []float64) []float64 {
	for len(losses) > 1 && math.IsInf(losses[len(losses)-1], 1) {
		losses = losses[:len(losses)-1]
	}
	return losses
}

// narrow reports whether all continuous dimensions have shrunk to a point.
func (s *strategy) narrow() bool {
	const point = 1e-11
	continuous := false
	for j := range s.numbers {
		if s.axis(j).Step > 0 {
			continue
		}
		continuous = true
		if s.sigma*math.Sqrt(s.covariance[j][j]) > point {
			return false
		}
	}
	return continuous
}

// degenerate reports whether the distribution is so long and thin that rounding dominates.
func (s *strategy) degenerate() bool {
	low, high := math.Inf(1), 0.0
	for i := range s.root {
		low, high = math.Min(low, s.root[i][i]), math.Max(high, s.root[i][i])
	}
	return high > 1e7*low
}
