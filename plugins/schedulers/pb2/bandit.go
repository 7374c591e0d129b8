package pb2

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// bandit explores with the model.
type bandit struct {
	*evolve.Perturber
	interval float64
	modelled []int    // parameters
	rows     []row    // the last observations
	model    *process // of these; nil if they have changed
	pending  []row    // points in use that were not compared yet
	last     map[uint32]evolve.Standing
}

// A row is an interval of a trial.
type row struct {
	trial     uint32
	iteration float64 // at its end
	before    float64 // the loss at its start
	units     []float64
	fall      float64 // decrease of the loss per iteration
}

const (
	window      = 60 // maximum number of rows
	fewest      = 4  // minimum number of rows for a model
	mostPending = 10
	draws       = 100
	moves       = 60
)

// Ranked records the improvement of a trial's last interval.
func (b *bandit) Ranked(now evolve.Standing) {
	before, ok := b.last[now.Trial]
	b.last[now.Trial] = now
	b.pending = slices.DeleteFunc(b.pending, func(r row) bool { return r.trial == now.Trial })
	r := row{now.Trial, float64(now.Iteration), before.Loss, b.units(now.Point), lossDecrease(before, now)}
	if ok && finite(before.Loss) && finite(r.fall) && r.units != nil {
		b.model = nil
		b.rows = append(b.rows, r)
		b.rows = b.rows[max(0, len(b.rows)-window):]
	}
}

func lossDecrease(from, to evolve.Standing) float64 {
	if to.Iteration <= from.Iteration {
		return math.NaN()
	}
	return (from.Loss - to.Loss) / float64(to.Iteration-from.Iteration)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// units returns the modelled parameters in 0..1, or nil if one is missing.
func (b *bandit) units(p space.Point) []float64 {
	u := make([]float64, len(b.modelled))
	for k, i := range b.modelled {
		if i >= len(p) || math.IsNaN(p[i]) {
			return nil
		}
		u[k] = b.Space.ToUnit(i, p[i])
	}
	return u
}

// Explore returns the donor's point with the values that the model chooses.
func (b *bandit) Explore(trial uint32, from evolve.Standing, rng *rand.Rand) space.Point {
	units := b.units(from.Point)
	b.last[trial] = evolve.Standing{Trial: trial, Iteration: from.Iteration, Loss: from.Loss}
	if len(b.rows) < fewest || len(units) == 0 {
		return b.Perturb(from.Point, nil, rng)
	}
	value := b.bound(from)
	p := b.Perturb(from.Point, func(p space.Point) {
		for k, u := range choose(value, units, rng) {
			p[b.modelled[k]] = b.Space.FromUnit(b.modelled[k], u)
		}
	}, rng)
	b.pending = append(b.pending, row{trial: trial, iteration: float64(from.Iteration) + b.interval, before: from.Loss,
		units: b.units(p)})
	b.pending = b.pending[max(0, len(b.pending)-mostPending):]
	return p
}

// choose returns the best of random draws, and then of moves around it.
func choose(value func([]float64) float64, start []float64, rng *rand.Rand) []float64 {
	best, most := start, value(start)
	for i := range draws + moves {
		u := make([]float64, len(start))
		for k := range u {
			if u[k] = rng.Float64(); i >= draws {
				reach := float64(draws+moves-i) / moves / 4
				u[k] = min(max(best[k]+float64(reach*(2*u[k]-1)), 0), 1)
			}
		}
		if v := value(u); v > most {
			best, most = u, v
		}
	}
	return best
}

// bound returns the upper confidence bound of the decrease from there, as a function of the units.
func (b *bandit) bound(from evolve.Standing) func(units []float64) float64 {
	inputs, y := make([]input, len(b.rows)), make([]float64, len(b.rows))
	scale := b.losses()
	for i, r := range b.rows {
		inputs[i], y[i] = b.input(r, scale), r.fall
	}
	if b.model == nil {
		b.model = fit(slices.Clip(inputs), standardised(y))
	}
	model := b.model
	for _, r := range b.pending {
		inputs = append(inputs, b.input(r, scale))
	}
	spread := condition(model.kernel, inputs, nil)
	kappa := math.Sqrt(0.2 + max(0, ln(0.4*float64(len(b.rows)))))
	return func(units []float64) float64 {
		at := b.input(row{iteration: float64(from.Iteration) + b.interval, before: from.Loss, units: units}, scale)
		return model.mean(at) + float64(kappa*spread.deviation(at))
	}
}

// losses maps the losses at the intervals' starts to 0..1.
func (b *bandit) losses() func(float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range b.rows {
		low, high = min(low, r.before), max(high, r.before)
	}
	return func(loss float64) float64 {
		if !(high > low) {
			return 0.5
		}
		// Half values, because the range may overflow.
		return min(max((loss/2-low/2)/(high/2-low/2), 0), 1)
	}
}

func (b *bandit) input(r row, scale func(float64) float64) input {
	return input{r.iteration / b.interval, append([]float64{scale(r.before)}, r.units...)}
}
