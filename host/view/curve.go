package view

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/core"
)

// Step is an improvement on the best value so far.
type Step struct {
	Value     Float        `json:"value"`
	Trial     string       `json:"trial"`
	Number    core.TrialNo `json:"number"`
	Iteration uint64       `json:"iteration"`
	// Trials and Results count the trials, and the results that count, so far; Seconds is how long the experiment had
	// run.
	Trials  int    `json:"trials"`
	Results uint64 `json:"results"`
	Seconds Float  `json:"elapsed_s"`
}

// Curve returns the best value so far of the query's metric: a step for each result that was better
// than all before, of those that count (B-061). With several runs of a suggestion it is of single runs.
func (e *Experiment) Curve(q Query) (curve []Step, err error) {
	switch q.Scope {
	case "", Last, All:
		q.Scope = All
	default:
		return nil, fmt.Errorf("scope %s: a curve takes every result of a trial: omit the scope", q.Scope)
	}
	o, err := e.objective(q)
	if err != nil {
		return nil, err
	}
	return curve, e.recall(func(s *State, p *Past) error {
		id := s.Machine.Metric(o.Metric)
		if id == 0 {
			return nil
		}
		for _, x := range p.Improvements(id, o.Mode) {
			curve = append(curve, Step{Value: Float(x.Value), Trial: s.id(x.Trial), Number: x.Trial,
				Iteration: x.Iteration, Trials: x.Trials, Results: x.Results, Seconds: Float(float64(x.At) / 1e9)})
		}
		return nil
	})
}

// objective returns what a query asks for.
func (e *Experiment) objective(q Query) (o core.Objective, err error) {
	failed := e.source.Look(func(s *State) { o, err = s.objective(q) })
	return o, errors.Join(failed, err)
}
