package wilcoxon

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/average"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
)

type scheduler struct {
	options   options
	objective objective.Objective
	trials    table.Table[trial]
	best      []fold // of the best trial that ended; initially empty
	name      uint32 // its number
}

type trial struct {
	ended bool
	folds []fold // in increasing order
}

type fold struct {
	iteration uint64
	loss      float64
}

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return each.Stopper[trial]{Trials: &s.trials, Result: s.result, Completed: s.completed,
		Ended: (*trial).end}.Decide(events)
}

func (s *scheduler) result(e *sdk.Event, t *trial) (d sdk.Decision, due bool) {
	if !t.add(e.Iteration, s.objective.Loss(e)) {
		return sdk.Decision{}, false
	}
	d = sdk.Decision{Event: e.Number}
	if d.Reason = s.judge(t); d.Reason != "" {
		d.Verdict = sdk.Stop
		t.end()
	}
	return d, true
}

// completed lets a trial become the best one. Its last result is new if a stop rule ended it.
func (s *scheduler) completed(e *sdk.Event, t *trial) {
	if len(e.Losses) > 0 {
		t.add(e.Iteration, s.objective.Loss(e))
	}
	if better(t.folds, s.best) {
		s.best, s.name = t.folds, e.Trial
	}
	t.end()
}

func (t *trial) add(iteration uint64, loss float64) bool {
	if t.ended || len(t.folds) > 0 && iteration <= t.folds[len(t.folds)-1].iteration {
		return false
	}
	t.folds = append(t.folds, fold{iteration, loss})
	return true
}

func (t *trial) end() { *t = trial{ended: true} }

// better reports whether a is preferred to b as the best trial.
func better(a, b []fold) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return mean(a) < mean(b)
}

func mean(folds []fold) float64 {
	var m average.Mean
	for _, f := range folds {
		m.Add(f.loss)
	}
	return m.Value()
}

// judge returns the reason to stop the trial, or nothing.
func (s *scheduler) judge(t *trial) string {
	own, others := shared(t.folds, s.best)
	if len(own) < max(1, s.options.Startup) || !(mean(own) > mean(others)) {
		return ""
	}
	p := greater(differences(own, others))
	if p >= s.options.Threshold {
		return ""
	}
	return fmt.Sprintf("%s, the mean of %d folds, is worse than trial %d's %s on the same (signed-rank test, p = %.2g)",
		s.objective.Text(mean(own)), len(own), s.name, s.objective.Value(mean(others)), p)
}

// shared returns the folds that both have.
func shared(a, b []fold) (inA, inB []fold) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].iteration < b[0].iteration:
			a = a[1:]
		case a[0].iteration > b[0].iteration:
			b = b[1:]
		default:
			inA, inB = append(inA, a[0]), append(inB, b[0])
			a, b = a[1:], b[1:]
		}
	}
	return inA, inB
}

func differences(a, b []fold) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		if a[i].loss != b[i].loss { // both may be infinite
			d[i] = a[i].loss - b[i].loss
		}
	}
	return d
}
