package gp

import (
	"math"

	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// A price predicts the duration of trials: the logarithm of their seconds as a linear function of
// the features, by ridge regression, which suits few and noisy data. While trials are stopped early
// it predicts the seconds of an iteration: trials with good values take long in total only because
// they are let to go on.
type price struct {
	layout  *layout
	weights []float64 // of the columns
	// power is that of the expected seconds by which the improvement is divided.
	power float64
}

// cost returns the price of trials, or nil if it does not count. Unless the user has decided, only times count that
// were told: with measured ones the same seed and the same results would not give the same suggestions (B-102).
// And they count while trials are stopped early, with one objective: that was measured to help.
func (s *searcher) cost() *price {
	switch c := s.options.Cost; {
	case c != nil && *c > 0:
		return s.history.newPrice(*c, false)
	case c == nil && s.history.objectives == 1 && s.history.fidelity.Stopping():
		return s.history.newPrice(1, true)
	}
	return nil
}

// timed is how many trials a price learns from, the last ones: a suggestion must not cost more with each trial.
const timed = 1000

// newPrice learns from the last trials with a duration, or from those whose duration was told; it returns nil if there
// are none.
func (h *history) newPrice(power float64, told bool) *price {
	p := &price{layout: h.layout, power: power}
	var gram dense.Matrix
	for i := max(0, len(h.trials)-timed); i < len(h.trials); i++ {
		t := &h.trials[i]
		if !t.ended || !(t.seconds > 0) || told && !t.told {
			continue
		}
		row := p.columns(t.x)
		if gram == nil {
			gram, p.weights = dense.Identity(len(row)), make([]float64, len(row))
		}
		for j, x := range row {
			dense.Add(gram[j][:j+1], x, row)
		}
		dense.Add(p.weights, portable.Log(h.duration(i)), row)
	}
	if gram == nil || !dense.Cholesky(gram, 0) {
		return nil
	}
	dense.Solve(gram, p.weights)
	dense.SolveTransposed(gram, p.weights)
	return p
}

// duration returns the seconds of trial i, or of an iteration of it while trials are stopped early.
func (h *history) duration(i int) float64 {
	seconds := h.trials[i].seconds
	if n := h.fidelity.Iterations(i); n > 0 && h.fidelity.Stopping() {
		return seconds / float64(n)
	}
	return seconds
}

// columns returns the regressors: the numbers, a constant, and 1 for the category of each choice.
// The constant is large, so that it is hardly shrunk.
func (p *price) columns(x []float64) []float64 {
	const large = 1000
	row := make([]float64, 0, len(x)+1)
	for _, u := range x[:p.layout.numbers] {
		row = append(row, u-0.5)
	}
	row = append(row, large)
	for k := p.layout.numbers; k < len(x); k++ {
		start, choices := len(row), p.layout.axes[p.layout.order[k]].Choices
		for range choices {
			row = append(row, 0)
		}
		if x[k] >= 0 && x[k] < float64(choices) {
			row[start+int(x[k])] = 1
		}
	}
	return row
}

// at returns the logarithm of the seconds at a point. The slopes by the numbers are the first
// weights.
func (p *price) at(x []float64) float64 {
	return math.Max(-100, math.Min(100, dense.Dot(p.columns(x), p.weights)))
}
