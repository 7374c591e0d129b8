package gp

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// kernelParams are the parameters of the model: what is expected before any result, and the kernel. The
// covariance of two points is scale·m(√(Σ rate·distance²)), with Matérn's function m of smoothness 5/2;
// the distance of two categories is 0 or 1. Noise is the additional variance of results.
type kernelParams struct {
	rates        []float64 // 1/length²
	scale, noise float64
	bowl         bowl
}

func (s *kernelParams) same(t *kernelParams) bool {
	return s.scale == t.scale && s.noise == t.noise && s.bowl == t.bowl && slices.Equal(s.rates, t.rates)
}

// squares writes the parts of the squared distance of a and b, whose first numbers features are
// numbers.
func squares(into, a, b []float64, numbers int) {
	for k := range a {
		d := a[k] - b[k]
		if k >= numbers && d != 0 {
			d = 1
		}
		into[k] = float64(d * d)
	}
}

// materns sets values to Matérn's function of squared distances times scale, and slopes, unless it is nil, to its
// derivative times scale. It replaces the squares by √(5·square).
func materns(squares, values, slopes []float64, scale float64) {
	slowRoots(squares, values, rootsOfFour(squares, values))
	portable.Exps(values)
	if slopes != nil {
		slowSlopes(squares, values, slopes, scale, slopesOfFour(squares, values, slopes, scale))
	}
	slowValues(squares, values, scale, valuesOfFour(squares, values, scale))
}

// slowRoots replaces squares by roots r, and sets negative to -r, from number n on.
func slowRoots(squares, negative []float64, n int) {
	for i := n; i < len(squares); i++ {
		r := math.Sqrt(5 * squares[i])
		squares[i], negative[i] = r, -r
	}
}

// slowSlopes sets the slopes, given the roots r and the exponentials of -r, from number n on.
func slowSlopes(roots, exps, slopes []float64, scale float64, n int) {
	for i := n; i < len(roots); i++ {
		slopes[i] = -5.0 / 6 * (1 + roots[i]) * exps[i] * scale
	}
}

// slowValues replaces the exponentials of -r by the values, given the roots r, from number n on.
func slowValues(roots, exps []float64, scale float64, n int) {
	for i := n; i < len(roots); i++ {
		r := roots[i]
		exps[i] = (1 + r + float64(r*r)/3) * exps[i] * scale
	}
}
