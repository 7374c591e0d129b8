package median

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/average"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/each"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/rung"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/table"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "median",
		Version: "1.1.0",
		Summary: "Stops trials whose best is worse than the median of the others' means.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Grace     uint64
	MinTrials int
	Objective string
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("grace", &o.Grace, 4, option.From(1),
			"The first iteration at which trials are stopped and whose results count in the means: earlier ones "+
				"are mostly noise. A trial's own best is that of all its results."),
		option.Int("min_trials", &o.MinTrials, 3, option.From(1),
			"The minimum number of other trials that have reached the iteration."),
		objective.Option(&o.Objective),
	}
})

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &scheduler{options: o, objective: compared, means: map[uint64]*rung.Rung{}}
	return s, sdk.Traits{RunAhead: 1}, nil
}

type scheduler struct {
	options   options
	objective objective.Objective
	trials    table.Table[trial]
	// means has, for each iteration, the running means of the trials that reported it, split into
	// halves.
	means map[uint64]*rung.Rung
}

type trial struct {
	ended    bool
	reported bool
	last     uint64 // iteration
	best     float64
	mean     average.Mean // of the results since grace
}

// Decide processes the events one by one; see the rules of the package.
func (s *scheduler) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return each.Stopper[trial]{Trials: &s.trials, Result: s.result, Completed: s.completed,
		Ended: (*trial).end}.Decide(events)
}

func (t *trial) end() { t.ended = true }

func (s *scheduler) result(e *sdk.Event, t *trial) (d sdk.Decision, due bool) {
	if t.ended || e.Iteration <= t.last {
		return sdk.Decision{}, false
	}
	t.add(e.Iteration, s.objective.Loss(e))
	if e.Iteration < s.options.Grace {
		t.mean = average.Mean{}
		return sdk.Decision{Event: e.Number}, true
	}
	others := s.others(e.Iteration)
	reason := s.judge(e, t, others)
	others.Add(t.mean.Value(), e.Trial)
	if reason == "" {
		return sdk.Decision{Event: e.Number}, true
	}
	t.ended = true
	return sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: reason}, true
}

// completed counts the last result of a trial that a stop rule ended.
func (s *scheduler) completed(e *sdk.Event, t *trial) {
	if !t.ended && len(e.Losses) > 0 && e.Iteration > t.last && e.Iteration >= s.options.Grace {
		t.add(e.Iteration, s.objective.Loss(e))
		s.others(e.Iteration).Add(t.mean.Value(), e.Trial)
	}
	t.ended = true
}

func (t *trial) add(iteration uint64, loss float64) {
	if !t.reported || loss < t.best {
		t.best = loss
	}
	t.reported, t.last = true, iteration
	t.mean.Add(loss)
}

func (s *scheduler) others(iteration uint64) *rung.Rung {
	r := s.means[iteration]
	if r == nil {
		half := rung.New(2, 0)
		r = &half
		s.means[iteration] = r
	}
	return r
}

// judge returns the reason to stop the trial, or nothing.
func (s *scheduler) judge(e *sdk.Event, t *trial, others *rung.Rung) string {
	if math.IsInf(t.best, 1) {
		return s.objective.Name() + " was never a finite number by iteration " + strconv.FormatUint(e.Iteration, 10)
	}
	if others.Len() < s.options.MinTrials {
		return ""
	}
	median := middle(others)
	if t.best <= median {
		return ""
	}
	return fmt.Sprintf("the best %s by iteration %d is worse than the median of the means of %d others, %s",
		s.objective.Text(t.best), e.Iteration, others.Len(), s.objective.Value(median))
}

// middle returns the median: the lower half has ⌊n/2⌋.
func middle(r *rung.Rung) float64 {
	next, _ := r.Next()
	cut, ok := r.Cut()
	if r.Len()%2 == 1 || !ok {
		return next
	}
	return cut/2 + next/2
}
