package view

import (
	"errors"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

// Step is an improvement on the best value so far.
type Step struct {
	Value     Float        `json:"value"`
	Trial     string       `json:"trial"`
	Number    core.TrialNo `json:"number"`
	Iteration uint64       `json:"iteration"`
	// Trials is how many there were by then, Results how many results, and
	// Seconds how long the experiment had run.
	Trials  int    `json:"trials"`
	Results uint64 `json:"results"`
	Seconds Float  `json:"elapsed_s"`
}

// Curve is the best value so far of the metric of a query, of all results: a step for
// each result that was better than all before.
func (e *Experiment) Curve(q Query) (curve []Step, err error) {
	if q.Scope == "" || q.Scope == Last {
		q.Scope = All
	}
	o, err := e.objective(q)
	if err != nil {
		return nil, err
	}
	results := uint64(0)
	return curve, e.Replay(func(m Moment) error {
		if m.Kind != core.SawResult {
			return nil
		}
		results++
		v, ok := reported(m, o.Metric)
		if !ok || len(curve) > 0 && !stat.Better(v, float64(curve[len(curve)-1].Value), o.Mode) {
			return nil
		}
		curve = append(curve, Step{Value: Float(v), Trial: e.id(m.Trial), Number: m.Trial,
			Iteration: m.Iteration, Trials: m.State.Machine.Trials(), Results: results, Seconds: Float(float64(m.State.Machine.Now()) / 1e9)})
		return nil
	})
}

// reported is a finite value of a metric in a result.
func reported(m Moment, metric string) (float64, bool) {
	id := m.State.Machine.Metric(metric)
	for _, x := range m.Metrics {
		if x.ID == id && id != 0 {
			return x.Value, finite(x.Value)
		}
	}
	return 0, false
}

// objective is what a query asks for.
func (e *Experiment) objective(q Query) (o core.Objective, err error) {
	failed := e.source.Look(func(s *State) { o, err = s.objective(q) })
	return o, errors.Join(failed, err)
}
