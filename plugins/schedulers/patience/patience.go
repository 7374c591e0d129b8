package patience

import (
	"context"
	"fmt"
	"math"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "patience",
		Version: "1.0.0",
		Summary: "Stops trials that have stopped improving, or are beyond a limit.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Patience  uint64
	MinDelta  float64
	Grace     uint64
	Limit     *float64
	Objective string
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("patience", &o.Patience, 10, option.From(1),
			"Iterations without improvement after which a trial is stopped."),
		option.Float("min_delta", &o.MinDelta, 0, option.From(0),
			"An improvement is better than the best so far by more than this, in units of the metric."),
		option.Int("grace", &o.Grace, 1, option.From(1),
			"Iterations before which no trial is stopped."),
		option.Of("limit", &o.Limit, nil, option.OrNull(option.Number(option.Any())),
			"Trials that report a worse value of the metric are stopped at once, after the grace; null: none."),
		objective.Option(&o.Objective),
	}
})

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	judged, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	limit := math.MaxFloat64
	if o.Limit != nil {
		limit = judged.FromValue(*o.Limit)
	}
	return &scheduler{options: o, objective: judged, limit: limit}, sdk.Traits{RunAhead: 1}, nil
}

type scheduler struct {
	options   options
	objective objective.Objective
	limit     float64 // worst loss that goes on
	trials    table.Table[trial]
}

type trial struct {
	ended    bool
	finite   bool
	best     float64
	last     uint64 // iteration
	improved uint64 // iteration of the best
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
		case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
			s.trials.At(e.Trial).ended = true
		}
	}
	return out, nil
}

func (s *scheduler) result(e *sdk.Event, t *trial) (d sdk.Decision, due bool) {
	if t.ended || e.Iteration <= t.last {
		return sdk.Decision{}, false
	}
	loss := s.objective.Loss(e)
	t.add(e.Iteration, loss, s.options.MinDelta)
	d = sdk.Decision{Event: e.Number}
	if d.Reason = s.judge(e, t, loss); d.Reason != "" {
		d.Verdict, t.ended = sdk.Stop, true
	}
	return d, true
}

func (t *trial) add(iteration uint64, loss, delta float64) {
	t.last = iteration
	if !math.IsInf(loss, 1) && (!t.finite || t.best-loss > delta) {
		t.finite, t.best, t.improved = true, loss, iteration
	}
}

// judge says why the trial is stopped, or nothing.
func (s *scheduler) judge(e *sdk.Event, t *trial, loss float64) string {
	switch {
	case e.Iteration < s.options.Grace:
		return ""
	case s.options.Limit != nil && loss > s.limit:
		return fmt.Sprintf("%s at iteration %d is beyond the limit %s", s.objective.Text(loss), e.Iteration, s.objective.Value(s.limit))
	case e.Iteration-t.improved < s.options.Patience:
		return ""
	case !t.finite:
		return fmt.Sprintf("%s was never a finite number by iteration %d", s.objective.Name(), e.Iteration)
	}
	return fmt.Sprintf("%s has not improved since iteration %d, for %d iterations", s.objective.Text(t.best), t.improved, e.Iteration-t.improved)
}
