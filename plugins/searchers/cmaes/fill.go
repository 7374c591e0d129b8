package cmaes

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// A filler computes coordinates that the update needs and a trial does not have: the position of an
// integer within its cell, and parameters that do not exist. They are drawn from the distribution,
// given the trial's other coordinates (by Gibbs sampling), so that missing information changes
// nothing on average.
type filler struct {
	*strategy
	precision dense.Matrix // nil until needed
}

func (s *strategy) newFiller() *filler { return &filler{strategy: s} }

// complete returns the position of a trial in all dimensions.
func (f *filler) complete(t *step) []float64 {
	x := make([]float64, len(f.numbers))
	var unknown []int
	for j, i := range f.numbers {
		x[j] = t.at[i]
		if math.IsNaN(x[j]) || f.axes[i].Step > 0 {
			unknown = append(unknown, j)
		}
	}
	if len(unknown) > 0 {
		f.draw(x, unknown, space.NewRand(uint64(t.trial)))
	}
	return x
}

// draw draws the unknown coordinates of x in turn, a few times.
func (f *filler) draw(x []float64, unknown []int, rng space.Source) {
	const sweeps = 3
	low, high := make([]float64, len(unknown)), make([]float64, len(unknown))
	for k, j := range unknown {
		low[k], high[k] = math.Inf(-1), math.Inf(1)
		if !math.IsNaN(x[j]) {
			low[k], high[k] = f.axis(j).Cell(x[j])
		}
		x[j] = math.Max(low[k], math.Min(high[k], f.mean[j]))
	}
	away := make([]float64, len(x))
	for j := range x {
		away[j] = x[j] - f.mean[j]
	}
	f.invert()
	for range sweeps {
		for k, j := range unknown {
			own := f.precision[j][j]
			expected := f.mean[j] + away[j] - dense.Dot(f.precision[j], away)/own
			x[j] = truncated(expected, f.sigma/math.Sqrt(own), low[k], high[k], rng.Float64())
			away[j] = x[j] - f.mean[j]
		}
	}
}

// invert sets precision to the inverse of the covariance without sigma.
func (f *filler) invert() {
	if f.precision != nil {
		return
	}
	n := len(f.root)
	inverse := dense.New(n, n)
	f.precision = dense.New(n, n)
	dense.Invert(inverse, f.root, 0)
	dense.Gram(f.precision, inverse)
	for i, row := range f.precision {
		for j := range i {
			f.precision[j][i] = row[j]
		}
	}
}

// truncated returns the quantile u of the normal distribution between low and high, or the nearer
// end if the probability there is practically 0.
func truncated(mean, sd, low, high, u float64) float64 {
	const nothing = 1e-6
	from, to := portable.CDF((low-mean)/sd), portable.CDF((high-mean)/sd)
	x := mean
	if to-from > nothing {
		x = mean + float64(sd*portable.Quantile(from+float64(u*(to-from))))
	}
	return math.Max(low, math.Min(high, x))
}

func exp(x float64) float64 { return portable.Exp(x) }

func ln(x float64) float64 { return portable.Log(x) }
