package patience

import (
	"context"
	"fmt"
	"math"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "patience",
		Version: "1.0.0",
		Summary: "Stops trials that no longer improve, or are beyond a limit.",
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
			"The minimum improvement over the best value so far, in units of the metric."),
		option.Int("grace", &o.Grace, 1, option.From(1),
			"The first iteration at which trials are stopped."),
		option.Of("limit", &o.Limit, nil, option.OrNull(option.Number(option.Any())),
			"Trials that report a worse value are stopped at once, from grace on; null: no limit."),
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
	limit     float64 // worst loss that continues
	trials    table.Table[trial]
}

type trial struct {
	ended    bool
	finite   bool
	best     float64
	last     uint64 // iteration
	improved uint64 // iteration of the best loss
}

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return each.Stopper[trial]{Trials: &s.trials, Result: s.result, Ended: (*trial).end,
		Completed: func(_ *sdk.Event, t *trial) { t.end() }}.Decide(events)
}

func (t *trial) end() { t.ended = true }

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

// judge returns the reason to stop the trial, or nothing.
func (s *scheduler) judge(e *sdk.Event, t *trial, loss float64) string {
	switch {
	case e.Iteration < s.options.Grace:
		return ""
	case s.options.Limit != nil && loss > s.limit:
		return fmt.Sprintf("%s at iteration %d is beyond the limit %s", s.objective.Text(loss), e.Iteration,
			s.objective.Value(s.limit))
	case e.Iteration-t.improved < s.options.Patience:
		return ""
	case !t.finite:
		return fmt.Sprintf("%s was never a finite number by iteration %d", s.objective.Name(), e.Iteration)
	}
	return fmt.Sprintf("%s has not improved%s since iteration %d, for %d iterations", s.objective.Text(t.best),
		s.enough(), t.improved, e.Iteration-t.improved)
}

// enough names what counts as an improvement, where not every one does.
func (s *scheduler) enough() string {
	if s.options.MinDelta == 0 {
		return ""
	}
	return fmt.Sprintf(" by more than %g (min_delta)", s.options.MinDelta)
}
