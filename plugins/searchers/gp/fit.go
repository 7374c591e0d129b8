package gp

import (
	"math"

	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
	"github.com/tunehost/tunehost/plugins/searchers/internal/descent"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

const (
	minNoise = 1e-6
	// fitSteps is the maximum number of steps of a fit.
	fitSteps = 30
)

// A fitting computes the most probable shape for given data (maximum a posteriori). Its parameters
// are logarithms: of the rates, the scale, the noise.
type fitting struct {
	x       [][]float64
	y       []float64
	numbers int
	// parts are the squared distances of each pair of points, feature by feature.
	parts       [][]float64
	root, rest  dense.Matrix
	inverse     dense.Matrix
	slopes      dense.Matrix
	weights     []float64
	squares     []float64 // a buffer
	shape       kernelParams
	lengthPrior float64
}

// fit returns the shape for points x, whose first numbers features are numbers, and their values y,
// with mean 0 and variance 1, of which b is expected.
func fit(x [][]float64, y []float64, numbers int, b bowl) kernelParams {
	f := &fitting{x: x, numbers: numbers}
	for i := range x {
		f.y = append(f.y, y[i]-b.at(x[i][:numbers]))
	}
	f.prepare()
	f.shape.bowl = b
	d := len(x[0])
	theta := make([]float64, d+2)
	low, high := make([]float64, d+2), make([]float64, d+2)
	for k := range d {
		theta[k], low[k], high[k] = -2*f.lengthPrior, -12, 12
	}
	low[d], high[d] = -5, 5
	theta[d+1], low[d+1], high[d+1] = -5, portable.Log(minNoise), 0
	descent.Minimise(f.loss, theta, low, high, descent.Limits{Iterations: fitSteps, Gradient: 0.05, Progress: 1e-3})
	f.shape.set(theta)
	return f.shape
}

// typicalLength is the logarithm of the expected length scale: it grows with the square root of the
// dimensions, as distances do (C. Hvarfner and others, Vanilla Bayesian Optimization Performs Great
// in High Dimensions, 2024).
func typicalLength(d int) float64 { return math.Sqrt2 - 3 + portable.Log(float64(d))/2 }

// set sets a shape from its parameters.
func (s *kernelParams) set(theta []float64) {
	d := len(s.rates)
	for k := range d {
		s.rates[k] = portable.Exp(theta[k])
	}
	s.scale, s.noise = portable.Exp(theta[d]), portable.Exp(theta[d+1])
}

// prepare allocates memory, and fills parts, pair by pair.
func (f *fitting) prepare() {
	n, d := len(f.x), len(f.x[0])
	f.root, f.rest, f.inverse, f.slopes = dense.New(n, n), dense.New(n, n), dense.New(n, n), dense.New(n, n)
	f.weights, f.squares, f.shape.rates = make([]float64, n), make([]float64, n), make([]float64, d)
	f.lengthPrior = typicalLength(d)
	f.parts = dense.New(n*(n-1)/2, d)
	pair := 0
	for i := range f.x {
		for j := range i {
			squares(f.parts[pair], f.x[i], f.x[j], f.numbers)
			pair++
		}
	}
}

// loss returns the negative logarithm of the posterior density, up to a constant.
func (f *fitting) loss(theta, gradient []float64) float64 {
	f.shape.set(theta)
	if !f.factorise() {
		return math.Inf(1)
	}
	n := len(f.y)
	copy(f.weights, f.y)
	dense.Solve(f.root, f.weights)
	value := dense.Dot(f.weights, f.weights) / 2
	for i := range n {
		value += portable.Log(f.root[i][i])
	}
	dense.SolveTransposed(f.root, f.weights)
	dense.Invert(f.rest, f.root, 0)
	dense.Gram(f.inverse, f.rest)
	f.slope(gradient)
	return value + f.prior(theta, gradient)
}

// factorise sets root and slopes.
func (f *fitting) factorise() bool {
	pair := 0
	for i := range f.x {
		squares, values, slopes := f.squares[:i], f.root[i][:i], f.slopes[i][:i]
		dense.Dots(squares, f.shape.rates, f.parts[pair:])
		pair += i
		materns(squares, values, slopes, f.shape.scale)
		f.root[i][i] = f.shape.scale + f.shape.noise
	}
	return dense.Cholesky(f.root, 0)
}

// slope sets the gradient of the likelihood: for each parameter, the sum over all pairs of the
// derivative of the covariance times (K⁻¹-w·wᵀ)/2, with w = K⁻¹y.
func (f *fitting) slope(gradient []float64) {
	d := len(f.shape.rates)
	clear(gradient)
	trace, pair := 0.0, 0
	for i, row := range f.inverse {
		for j, slope := range f.slopes[i][:i] {
			f.squares[j] = (row[j] - float64(f.weights[i]*f.weights[j])) * slope
		}
		dense.AddAll(gradient[:d], f.squares[:i], f.parts[pair:])
		pair += i
		trace += row[i] - float64(f.weights[i]*f.weights[i])
	}
	for k, rate := range f.shape.rates {
		gradient[k] *= rate
	}
	// The covariance without the noise is proportional to the scale.
	fitted := float64(len(f.y)) - dense.Dot(f.weights, f.y)
	gradient[d+1] = f.shape.noise * trace / 2
	gradient[d] = fitted/2 - gradient[d+1]
}

// prior adds the gradients of the priors' negative logarithms and returns their sum: length scales
// are log-normal, the scale has a gamma distribution around 1, and the noise has a weak prior for
// small values.
func (f *fitting) prior(theta, gradient []float64) (sum float64) {
	d := len(f.shape.rates)
	const variance = 3
	for k := range d {
		away := -theta[k]/2 - f.lengthPrior
		sum += float64(away*away) / (2 * variance)
		gradient[k] -= away / (2 * variance)
	}
	sum += f.shape.scale - theta[d]
	gradient[d] += f.shape.scale - 1
	sum += float64(30*f.shape.noise) - float64(0.1*theta[d+1])
	gradient[d+1] += float64(30*f.shape.noise) - 0.1
	return sum
}
