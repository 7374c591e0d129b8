package gp

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// warp transforms losses for a Gaussian process, to mean 0 and variance 1, without changing their
// order: failures become as bad as the worst, then the power transform of Yeo and Johnson with the
// power from 0 to 1 that makes them most nearly normal compresses bad losses.
func warp(losses []float64) []float64 {
	z, any := fill(losses)
	if !any {
		return z
	}
	centre(z)
	best, least := 1.0, math.Inf(1)
	for power := 0.0; power <= 1; power += 0.25 {
		if loss := misfit(z, power); loss < least {
			best, least = power, loss
		}
	}
	for k, x := range z {
		z[k] = power(x, best)
	}
	standardise(z)
	return z
}

// fill replaces +Inf by the worst finite loss; any is false if there is none, and then all are 0.
// Losses are halved if their range would overflow.
func fill(losses []float64) (z []float64, any bool) {
	high := math.Inf(-1)
	for _, x := range losses {
		if !math.IsInf(x, 1) {
			high, any = math.Max(high, x), true
		}
	}
	z = make([]float64, len(losses))
	for k, x := range losses {
		if any {
			z[k] = math.Min(x, high) / 1024
		}
	}
	return z, any
}

// centre subtracts the median and divides by the median distance from it, or by the mean distance
// if that is 0. Outliers are cut at a thousand times that.
func centre(z []float64) {
	const outlier = 1000
	middle := median(z)
	away, sum := make([]float64, len(z)), 0.0
	for k := range z {
		z[k] -= middle
		away[k] = math.Abs(z[k])
		sum += away[k] / float64(len(z))
	}
	width := median(away)
	if width == 0 {
		width = sum
	}
	if width == 0 {
		return
	}
	for k := range z {
		z[k] = math.Max(-outlier, math.Min(outlier, z[k]/width))
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// standardise scales to mean 0 and variance 1, if the variance is not 0.
func standardise(z []float64) {
	mean, variance := moments(z)
	if !(variance > 0) {
		clear(z)
		return
	}
	for k := range z {
		z[k] = (z[k] - mean) / math.Sqrt(variance)
	}
}

func moments(z []float64) (mean, variance float64) {
	n := float64(len(z))
	for _, x := range z {
		mean += x / n
	}
	for _, x := range z {
		variance += float64((x-mean)*(x-mean)) / n
	}
	return mean, variance
}

// power returns the transform of Yeo and Johnson of x with power p (A New Family of Power
// Transformations to Improve Normality or Symmetry, 2000).
func power(x, p float64) float64 {
	if x < 0 {
		return -power(-x, 2-p)
	}
	if math.Abs(p) < 1e-9 {
		return portable.Log(1 + x)
	}
	return (portable.Exp(p*portable.Log(1+x)) - 1) / p
}

// misfit returns the negative log-likelihood per value for normal values transformed with power p.
func misfit(z []float64, p float64) float64 {
	transformed, jacobian := make([]float64, len(z)), 0.0
	for k, x := range z {
		transformed[k] = power(x, p)
		jacobian += math.Copysign(portable.Log(1+math.Abs(x)), x)
	}
	_, variance := moments(transformed)
	if !(variance > 0) {
		return math.Inf(1)
	}
	return portable.Log(variance)/2 - (p-1)*jacobian/float64(len(z))
}
