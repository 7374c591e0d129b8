// Package spec says what an experiment file and its plugins ask of the core.
package spec

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/demand"
	"github.com/tunehost/tunehost/host/points"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Traits are what the opened plugins say about themselves.
type Traits struct {
	Searcher, Scheduler sdk.Traits
	Trainable           sdk.TrainableTraits
}

// Of is what the core is told of an experiment. The error is about amounts of resources.
func Of(e *config.Experiment, seed uint64, t Traits) (core.Spec, error) {
	request, err := LeastRequest(e)
	if err != nil {
		return core.Spec{}, err
	}
	s := core.Spec{
		Rules: core.NewestRules, Seed: seed, Trials: Trials(e), Repeat: repeatOf(e), Concurrency: uint32(e.Concurrency), Request: request,
		WaitForResources: e.WaitForResources, Overcommit: e.Overcommit, Stop: stopOf(e),
		Budget: core.Budget{TimeNS: int64(e.Budget.Time), TrialsFailed: uint32(e.Budget.TrialsFailed)},
		Checkpoint: core.Checkpoint{Every: uint64(e.Checkpoint.Every), AtEnd: e.Checkpoint.AtEnd,
			Keep: uint32(e.Checkpoint.Keep), Score: e.Checkpoint.Score, Mode: Mode(e.Checkpoint.Mode), DiskBytes: e.Checkpoint.Disk,
			PausesInMemory: e.Checkpoint.PausesInMemory},
		Retries: int32(e.Failures.Retries), Lost: uint32(e.Failures.Lost), FailFast: e.Failures.FailFast, FailRaise: e.Failures.Raise,
		StrictMetrics: e.StrictMetrics, Independent: t.Searcher.Independent, Quiet: t.Scheduler.Quiet,
		RunAhead: uint32(t.Scheduler.RunAhead), Saves: t.Trainable.Saves,
	}
	for _, o := range e.Objectives {
		s.Objectives = append(s.Objectives, core.Objective{Metric: o.Metric, Mode: Mode(o.Mode)})
		s.Required = append(s.Required, core.Required{Metric: o.Metric, By: "objective"})
	}
	for _, name := range t.Searcher.Requires {
		s.Required = append(s.Required, core.Required{Metric: name, By: "searcher " + e.Searcher.Name})
	}
	for _, name := range t.Scheduler.Requires {
		s.Required = append(s.Required, core.Required{Metric: name, By: "scheduler " + SchedulerNames(e)})
	}
	return s, nil
}

// RequiredScore is the metric by which checkpoints are kept, where it is no objective's (B-053).
func RequiredScore(e *config.Experiment) []core.Required {
	score := e.Checkpoint.Score
	if score == "" || e.Checkpoint.Keep == 0 || slices.ContainsFunc(e.Objectives,
		func(o config.Objective) bool { return o.Metric == score }) {
		return nil
	}
	return []core.Required{{Metric: score, By: "key checkpoint.score"}}
}

// LeastRequest is what each trial asks for. Where amounts depend on parameters each trial
// has a request of its own; then it is the least of many, and says how many may fit.
func LeastRequest(e *config.Experiment) (resource.Request, error) {
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

// Mode is "min" or "max" as the core has it.
func Mode(text string) stat.Mode {
	if text == "max" {
		return stat.Max
	}
	return stat.Min
}

// Trials counts samples times grid axes (B-100).
func Trials(e *config.Experiment) int64 {
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

// Runs counts each suggestion as often as it is run.
func Runs(e *config.Experiment) int64 {
	if n := Trials(e); n < 0 || e.Repeat <= 1 {
		return n
	}
	return Trials(e) * e.Repeat
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

// SchedulerNames are for messages.
func SchedulerNames(e *config.Experiment) string {
	var names []string
	for _, ref := range e.Schedulers() {
		names = append(names, ref.Name)
	}
	return strings.Join(names, " with ")
}
