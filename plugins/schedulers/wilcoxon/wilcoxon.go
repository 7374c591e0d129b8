package wilcoxon

import (
	"context"
	"fmt"
	"math"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
)

type scheduler struct {
	options   options
	objective objective.Objective
	trials    table.Table[trial]
	best      []fold // of the best trial that ended; empty at first
	name      uint32 // its number
}

type trial struct {
	ended bool
	folds []fold // in rising order
}

type fold struct {
	iteration uint64
	loss      float64
}

// Decide follows the events one by one; see the package's rules.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	var out sdk.Decisions
	for i := range events {
		switch e := &events[i]; e.Kind {
		case sdk.ResultReported:
			if d, due := s.result(e, s.trials.At(e.Trial)); due {
				out.Decisions = append(out.Decisions, d)
			}
		case sdk.TrialCompleted:
			s.completed(e, s.trials.At(e.Trial))
		case sdk.TrialFailed, sdk.TrialRemoved:
			s.trials.At(e.Trial).end()
		}
	}
	return out, nil
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

// completed lets a trial be the best one. Its last result is new when a stop rule
// ended it.
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

// better says whether a is rather the best trial than b.
func better(a, b []fold) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return mean(a) < mean(b)
}

// mean is +Inf where it is none.
func mean(folds []fold) float64 {
	sum := 0.0
	for _, f := range folds {
		sum += f.loss
	}
	if math.IsNaN(sum) {
		return math.Inf(1)
	}
	return sum / float64(len(folds))
}

// judge says why the trial is stopped, or nothing.
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

// shared are the folds that both have.
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
