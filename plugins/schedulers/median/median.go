package median

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/average"
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
		Name:    "median",
		Version: "1.2.0",
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
	s := &scheduler{options: o, objective: compared}
	return s, sdk.Traits{RunAhead: 1}, nil
}

type scheduler struct {
	options   options
	objective objective.Objective
	trials    table.Table[trial]
	means     means
}

type trial struct {
	ended bool
	last  uint64 // iteration, from 1
	best  float64
	mean  average.Mean // of the results since grace
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
	reason := s.judge(e, t)
	if reason == "" {
		return sdk.Decision{Event: e.Number}, true
	}
	t.ended = true
	return sdk.Decision{Event: e.Number, Verdict: sdk.Stop, Reason: reason}, true
}

// completed counts the last result of a trial that a stop rule ended.
func (s *scheduler) completed(e *sdk.Event, t *trial) {
	if !t.ended && len(e.Losses) > 0 && e.Iteration > t.last {
		s.add(e, t)
	}
	t.ended = true
}

// add adds a result. It returns how many other trials have reached its iteration, and the median of their means.
func (s *scheduler) add(e *sdk.Event, t *trial) (others int, median float64) {
	loss := s.objective.Loss(e)
	if t.last == 0 || loss < t.best {
		t.best = loss
	}
	previous := t.last
	t.last = e.Iteration
	if e.Iteration < s.options.Grace {
		return 0, 0
	}
	if previous < s.options.Grace {
		previous = 0
	}
	t.mean.Add(loss)
	return s.means.add(e.Trial, previous, e.Iteration, t.mean.Value())
}

// judge adds a result. It returns the reason to stop the trial, or nothing.
func (s *scheduler) judge(e *sdk.Event, t *trial) string {
	others, median := s.add(e, t)
	switch {
	case e.Iteration < s.options.Grace:
		return ""
	case math.IsInf(t.best, 1):
		return s.objective.Name() + " was never a finite number by iteration " + strconv.FormatUint(e.Iteration, 10)
	case others < s.options.MinTrials || t.best <= median:
		return ""
	}
	return fmt.Sprintf("the best %s by iteration %d is worse than the %s, %s",
		s.objective.Text(t.best), e.Iteration, medianOf(others), s.objective.Value(median))
}

func medianOf(others int) string {
	if others == 1 {
		return "mean of the only other"
	}
	return fmt.Sprintf("median of the means of %d others", others)
}
