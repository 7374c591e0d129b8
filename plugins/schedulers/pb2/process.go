package pb2

import (
	"math"
	"slices"
)

// An input is the position of an observation.
type input struct {
	time float64   // in intervals
	x    []float64 // each about 0..1: the loss at the start, the parameters
}

// A kernel is the covariance of inputs: with variance 1, by factors for their squared distance and
// for the intervals between them.
type kernel struct{ apart, aged float64 }

func newKernel(length, epsilon float64) kernel {
	return kernel{1 / (2 * length * length), -ln(1-epsilon) / 2}
}

// noise is the variance of observations around the process.
const noise = 0.1

func (k kernel) similarity(a, b input) float64 {
	d := 0.0
	for i := range a.x {
		d += float64((a.x[i] - b.x[i]) * (a.x[i] - b.x[i]))
	}
	return decay(float64(d*k.apart) + float64(math.Abs(a.time-b.time)*k.aged))
}

// A process is a Gaussian process given observations.
type process struct {
	kernel kernel
	inputs []input
	lower  [][]float64 // Cholesky root of the covariance
	alpha  []float64   // the inverse of the covariance times the observations
}

// condition returns the process; without y only its variance is valid.
func condition(k kernel, inputs []input, y []float64) *process {
	p := &process{kernel: k, inputs: inputs, lower: make([][]float64, len(inputs))}
	for i := range inputs {
		p.lower[i] = p.forward(p.likeness(inputs[i], i))
		// The remainder is at least the noise, up to rounding.
		rest := 1 + noise - dot(p.lower[i], p.lower[i])
		p.lower[i] = append(p.lower[i], math.Sqrt(max(rest, noise/2)))
	}
	if y != nil {
		p.alpha = p.backward(p.forward(y))
	}
	return p
}

// likeness returns the covariance of the input with the first n.
func (p *process) likeness(to input, n int) []float64 {
	all := make([]float64, n)
	for j := range all {
		all[j] = p.kernel.similarity(to, p.inputs[j])
	}
	return all
}

// forward solves L z = b for the first rows of L.
func (p *process) forward(b []float64) []float64 {
	z := make([]float64, len(b), len(b)+1)
	for i := range b {
		z[i] = (b[i] - dot(p.lower[i][:i], z[:i])) / p.lower[i][i]
	}
	return z
}

// backward solves Lᵀ z = b in place.
func (p *process) backward(b []float64) []float64 {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] /= p.lower[i][i]
		for j := range i {
			b[j] -= float64(p.lower[i][j] * b[i])
		}
	}
	return b
}

// mean returns the expectation of the process at an input.
func (p *process) mean(at input) float64 { return dot(p.likeness(at, len(p.inputs)), p.alpha) }

// deviation returns the standard deviation of the process at an input.
func (p *process) deviation(at input) float64 {
	z := p.forward(p.likeness(at, len(p.inputs)))
	return math.Sqrt(max(0, 1-dot(z, z)))
}

// likelihood returns the log-likelihood of y, up to a constant.
func (p *process) likelihood(y []float64) float64 {
	sum := -dot(y, p.alpha) / 2
	for i := range p.lower {
		sum -= ln(p.lower[i][i])
	}
	return sum
}

// fit returns the process with the most likely kernel of the grid.
func fit(inputs []input, y []float64) (best *process) {
	most := math.Inf(-1)
	for _, length := range []float64{0.15, 0.4, 1} {
		for _, epsilon := range []float64{0.01, 0.1, 0.3} {
			p := condition(newKernel(length, epsilon), inputs, y)
			if l := p.likelihood(y); l > most || best == nil {
				most, best = l, p
			}
		}
	}
	return best
}

// negligible is the variance of equal numbers up to rounding, if the largest is 1.
const negligible = 1e-24

// standardised scales to mean 0 and standard deviation 1, cut at two.
func standardised(y []float64) []float64 {
	y = slices.Clone(y)
	// Sums of large numbers must not overflow.
	n, largest := float64(len(y)), 0.0
	for _, v := range y {
		largest = max(largest, math.Abs(v))
	}
	mean, variance := 0.0, 0.0
	for i := range y {
		if largest > 0 {
			y[i] /= largest
		}
		mean += y[i] / n
	}
	for _, v := range y {
		variance += float64((v-mean)*(v-mean)) / n
	}
	for i := range y {
		if y[i] -= mean; variance > negligible {
			y[i] = min(max(y[i]/math.Sqrt(variance), -2), 2)
		}
	}
	return y
}
