package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A score is what counts of a run.
type score struct {
	regret [3]float64 // at a quarter, a half and all of the time
	units  [2]float64 // until the regret is 10 % and 5 %; the horizon if it never is
	cost   float64    // milliseconds of processor time for each trial, the host's included
	record
}

func (p *problem) score(r record, horizon float64, cost time.Duration) score {
	s := score{record: r, cost: cost.Seconds() * 1e3 / float64(max(1, r.trials)), units: [2]float64{horizon, horizon}}
	for i, share := range []float64{0.25, 0.5, 1} {
		s.regret[i] = 1
		for _, x := range r.best {
			if x.at <= share*horizon {
				s.regret[i] = p.regret(x.value)
			}
		}
	}
	for i, goal := range []float64{0.1, 0.05} {
		for _, x := range r.best {
			if p.regret(x.value) <= goal {
				s.units[i] = x.at
				break
			}
		}
	}
	return s
}

func (p *problem) regret(value float64) float64 {
	return (value - p.MF.Best) / (p.MF.Median - p.MF.Best)
}

// A summary has the means of runs.
type summary struct {
	score
	trials, full float64
	low, high    float64 // 95 % of the means of the last regret, if the runs are drawn again
}

func total(list []score) (t summary) {
	n := float64(len(list))
	var last []float64
	for _, s := range list {
		for i := range s.regret {
			t.regret[i] += s.regret[i] / n
		}
		for i := range s.units {
			t.units[i] += s.units[i] / n
		}
		t.cost += s.cost / n
		t.trials += float64(s.record.trials) / n
		t.full += float64(s.record.full) / n
		last = append(last, s.regret[2])
	}
	t.low, t.high = bootstrap(last)
	return t
}

// bootstrap returns the middle 95 % of the means of values that are drawn again.
func bootstrap(values []float64) (low, high float64) {
	const draws = 2000
	rng := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, draws)
	for i := range means {
		for range values {
			means[i] += values[rng.IntN(len(values))] / float64(len(values))
		}
	}
	slices.Sort(means)
	return means[draws/40], means[draws-1-draws/40]
}

func (t summary) String() string {
	return fmt.Sprintf("regret %.3f %.3f %.3f [%.3f %.3f]  units %5.1f %5.1f  trials %5.0f full %4.0f  %.2f ms/trial",
		t.regret[0], t.regret[1], t.regret[2], t.low, t.high, t.units[0], t.units[1], t.trials, t.full, t.cost)
}
