package cmaes

import (
	"math"

	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// rates has the constants that depend on the size of a generation and the number of dimensions (N.
// Hansen, The CMA Evolution Strategy: A Tutorial, 2016, table 1).
type rates struct {
	// weights are the weights of a generation's trials, best first: positive with sum 1 for the
	// better half, negative for the others.
	weights []float64
	// mass is the effective number of trials of the positive weights.
	mass float64
	// path and damping belong to the step size; center, one and many to the covariance: to its
	// path, the update by the path, and the update by the generation.
	path, damping, center, one, many float64
	// length is the expected length of a normal vector.
	length float64
}

func newRates(size, dimensions int) *rates {
	r, d := &rates{}, math.Max(1, float64(dimensions))
	var worst float64
	r.weights, r.mass, worst = rawWeights(size)
	r.path = (r.mass + 2) / (d + r.mass + 5)
	r.damping = 1 + 2*math.Max(0, math.Sqrt((r.mass-1)/(d+1))-1) + r.path
	r.center = (4 + r.mass/d) / (d + 4 + 2*r.mass/d)
	r.one = 2 / (float64((d+1.3)*(d+1.3)) + r.mass)
	r.many = math.Min(1-r.one, 2*(0.25+r.mass+1/r.mass-2)/(float64((d+2)*(d+2))+r.mass))
	r.length = math.Sqrt(d) * (1 - 1/(4*d) + 1/(21*float64(d*d)))
	negative := math.Min(1+r.one/r.many, 1+2*worst/(worst+2))
	negative = math.Min(negative, (1-r.one-r.many)/(d*r.many))
	scale(r.weights, negative)
	return r
}

// rawWeights are logarithmic in the rank; mass and worst are the effective numbers of trials of the
// positive and the negative weights.
func rawWeights(size int) (weights []float64, mass, worst float64) {
	middle := portable.Log((float64(size) + 1) / 2)
	var sums, squares [2]float64
	for i := range size {
		w := middle - portable.Log(float64(i+1))
		weights = append(weights, w)
		side := 0
		if w < 0 {
			side = 1
		}
		sums[side] += w
		squares[side] += float64(w * w)
	}
	return weights, float64(sums[0]*sums[0]) / squares[0], float64(sums[1]*sums[1]) / squares[1]
}

// scale scales the positive weights to the sum 1 and the negative ones to the sum -negative.
func scale(weights []float64, negative float64) {
	above, below := 0.0, 0.0
	for _, w := range weights {
		above += math.Max(w, 0)
		below -= math.Min(w, 0)
	}
	for i, w := range weights {
		if w > 0 {
			weights[i] = w / above
		} else {
			weights[i] = w * negative / below
		}
	}
}

// shared returns the weights for these losses, best first: equal losses have the mean of their
// weights, so that nothing is learned on a plateau.
func (r *rates) shared(losses []float64) []float64 {
	weights := make([]float64, 0, len(losses))
	for i := 0; i < len(losses); i = len(weights) {
		end, sum := i, 0.0
		for ; end < len(losses) && losses[end] == losses[i]; end++ {
			sum += r.weights[end]
		}
		for range end - i {
			weights = append(weights, sum/float64(end-i))
		}
	}
	return weights
}
