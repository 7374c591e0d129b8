package host

import (
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/demand"
	"github.com/tunehost/tunehost/host/points"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// traits are what the opened plugins say about themselves.
type traits struct {
	searcher, scheduler sdk.Traits
	trainable           sdk.TrainableTraits
}

// specOf tells the core what the experiment file and the plugins say.
func specOf(e *config.Experiment, seed uint64, t traits) (core.Spec, error) {
	request, err := leastRequest(e)
	if err != nil {
		return core.Spec{}, err
	}
	s := core.Spec{
		Rules: core.NewestRules, Seed: seed, Trials: plannedTrials(e), Repeat: repeatOf(e), Concurrency: uint32(e.Concurrency), Request: request,
		WaitForResources: e.WaitForResources, Overcommit: e.Overcommit, Stop: stopOf(e),
		Budget: core.Budget{TimeNS: int64(e.Budget.Time), TrialsFailed: uint32(e.Budget.TrialsFailed)},
		Checkpoint: core.Checkpoint{Every: uint64(e.Checkpoint.Every), AtEnd: e.Checkpoint.AtEnd,
			Keep: uint32(e.Checkpoint.Keep), Score: e.Checkpoint.Score, Mode: modeOf(e.Checkpoint.Mode), DiskBytes: e.Checkpoint.Disk,
			PausesInMemory: e.Checkpoint.PausesInMemory},
		Retries: int32(e.Failures.Retries), Lost: uint32(e.Failures.Lost), FailFast: e.Failures.FailFast, FailRaise: e.Failures.Raise,
		StrictMetrics: e.StrictMetrics, Independent: t.searcher.Independent, Quiet: t.scheduler.Quiet,
		RunAhead: uint32(t.scheduler.RunAhead), Saves: t.trainable.Saves,
	}
	for _, o := range e.Objectives {
		s.Objectives = append(s.Objectives, core.Objective{Metric: o.Metric, Mode: modeOf(o.Mode)})
		s.Required = append(s.Required, core.Required{Metric: o.Metric, By: "objective"})
	}
	for _, name := range t.searcher.Requires {
		s.Required = append(s.Required, core.Required{Metric: name, By: "searcher " + e.Searcher.Name})
	}
	for _, name := range t.scheduler.Requires {
		s.Required = append(s.Required, core.Required{Metric: name, By: "scheduler " + schedulerNames(e)})
	}
	return s, nil
}

// requiredScore is the metric by which checkpoints are kept, where it is no objective's (B-053).
func requiredScore(e *config.Experiment) []core.Required {
	score := e.Checkpoint.Score
	if score == "" || e.Checkpoint.Keep == 0 || slices.ContainsFunc(e.Objectives, func(o config.Objective) bool { return o.Metric == score }) {
		return nil
	}
	return []core.Required{{Metric: score, By: "key checkpoint.score"}}
}

// leastRequest is what each trial asks for. Where amounts depend on parameters each trial
// has a request of its own; then it is the least of many, and says how many may fit.
func leastRequest(e *config.Experiment) (resource.Request, error) {
	if len(e.Computed) == 0 {
		return demand.Of(e)
	}
	var drawn [][]byte
	for seed := range uint64(drawnRequests) {
		p, err := e.Space.Sample(space.NewRand(seed))
		if err != nil {
			break
		}
		if g, err := points.Suggest(e, seed, 0, p); err == nil {
			drawn = append(drawn, g.Params)
		}
	}
	return demand.Least(e, drawn)
}

// drawnRequests is of how many points the least request is looked for.
const drawnRequests = 100

func modeOf(text string) stat.Mode {
	if text == "max" {
		return stat.Max
	}
	return stat.Min
}

// plannedTrials counts samples times grid axes (B-100).
func plannedTrials(e *config.Experiment) int64 {
	if e.Trials < 0 {
		return -1
	}
	return e.Trials * int64(points.GridSize(e.Space))
}

// repeatOf is the setting as it is recorded: none where each suggestion is run once.
func repeatOf(e *config.Experiment) uint32 {
	if e.Repeat <= 1 {
		return 0
	}
	return uint32(e.Repeat)
}

// plannedRuns counts each suggestion as often as it is run.
func plannedRuns(e *config.Experiment) int64 {
	if n := plannedTrials(e); n < 0 || e.Repeat <= 1 {
		return n
	}
	return plannedTrials(e) * e.Repeat
}

// stopOf has the rules that the core compares by itself; the others are in
// rules.
func stopOf(e *config.Experiment) core.StopRules {
	s := core.StopRules{Iteration: uint64(e.Stop.Iteration), TimeNS: int64(e.Stop.Time)}
	for _, r := range e.Stop.Metrics {
		if r.Reach != nil {
			s.Metrics = append(s.Metrics, core.MetricRule{Metric: r.Metric, Value: *r.Reach, Below: r.Mode == "min"})
		}
	}
	return s
}
