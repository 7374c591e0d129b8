package gp

import (
	"math"

	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// logImprovement returns the logarithm of φ(z)+zΦ(z) and its derivative: the expected improvement
// in units of the standard deviation if the best value is z standard deviations above the mean. The
// logarithm is accurate even where the improvement itself would be lost to rounding (S. Ament and
// others, Unexpected Improvements to Expected Improvement for Bayesian Optimization, 2023).
func logImprovement(z float64) (value, slope float64) {
	density := -float64(z*z)/2 - logRootTau
	if z < 0 {
		t, r := -z, ratio(-z)
		rest := 1 - float64(t*r)
		if t > 1e5 {
			rest = 1 / t / t
		}
		return density + portable.Log(rest), r / rest
	}
	phi := portable.Exp(density)
	upper := 1 - float64(phi*ratio(z))
	h := phi + float64(z*upper)
	return portable.Log(h), upper / h
}

// mostImprovement returns at least the value of logImprovement, in less time: Mills' ratio is at least
// 2/(t+√(t²+4)) (Z. W. Birnbaum, An Inequality for Mill's Ratio, 1942).
func mostImprovement(z float64) float64 {
	if !(z < 0) {
		value, _ := logImprovement(z)
		return value
	}
	root := (math.Sqrt(float64(z*z)+4) - z) / 2
	return -float64(z*z)/2 - logRootTau - 2*portable.Log(root)
}

// logRootTau is ln √(2π).
const logRootTau = 0.91893853320467274178

// ratio returns Mills' ratio of the normal distribution, (1-Φ(t))/φ(t), for t >= 0.
func ratio(t float64) float64 {
	if t < 3 {
		// Marsaglia's series for Φ, which loses no precision here.
		sum, term := t, t
		for k := 3.0; term > sum*1e-17; k += 2 {
			term = float64(term * t * t / k)
			sum += term
		}
		return 0.5*portable.Exp(float64(t*t)/2+logRootTau) - sum
	}
	fraction := t
	for k := 60.0; k >= 1; k-- {
		fraction = t + k/fraction
	}
	return 1 / fraction
}
