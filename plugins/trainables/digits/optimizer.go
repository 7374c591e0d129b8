package digits

import "math"

// An optimizer moves weights against their gradient. A checkpoint stores its Moments and Steps.
type optimizer struct {
	name     string
	lr, mu   float64
	moments  []float64 // sgd: velocity; adam: first moments, then second ones
	steps    uint64
	nweights int
}

// Adam's constants, as recommended by Kingma and Ba (2015).
const (
	beta1 = 0.9
	beta2 = 0.999
	tiny  = 1e-8
)

func newOptimizer(p params, nweights int) *optimizer {
	o := &optimizer{name: p.optimizer, lr: p.lr, mu: p.momentum, nweights: nweights}
	n := nweights
	if p.optimizer == adam {
		n *= 2
	}
	o.moments = make([]float64, n)
	return o
}

func (o *optimizer) step(weights, gradient []float64) {
	o.steps++
	if o.name == adam {
		o.stepAdam(weights, gradient)
		return
	}
	for i, g := range gradient {
		o.moments[i] = o.mu*o.moments[i] - o.lr*g
		weights[i] += o.moments[i]
	}
}

func (o *optimizer) stepAdam(weights, gradient []float64) {
	first, second := o.moments[:o.nweights], o.moments[o.nweights:]
	t := float64(o.steps)
	rate := o.lr * math.Sqrt(1-math.Pow(beta2, t)) / (1 - math.Pow(beta1, t))
	for i, g := range gradient {
		first[i] = beta1*first[i] + (1-beta1)*g
		second[i] = beta2*second[i] + (1-beta2)*g*g
		weights[i] -= rate * first[i] / (math.Sqrt(second[i]) + tiny)
	}
}
