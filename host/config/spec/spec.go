// Package spec converts an experiment file and the properties of its plugins into the settings of the
// core.
package spec

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Traits are what the opened plugins say about themselves.
type Traits struct {
	Searcher, Scheduler sdk.Traits
	Trainable           sdk.TrainableTraits
}

// again returns which of the plugins are told results again.
func (t Traits) again() (who core.Audience) {
	if t.Searcher.Again {
		who |= core.ToSearcher
	}
	if t.Scheduler.Again {
		who |= core.ToScheduler
	}
	return who
}

// Of returns the settings of the core for an experiment. The error is about amounts of resources.
func Of(e *config.Experiment, seed uint64, t Traits) (core.Spec, error) {
	request, err := LeastRequest(e)
	if err != nil {
		return core.Spec{}, err
	}
	s := core.Spec{
		Rules: core.NewestRules, Seed: seed, Trials: Trials(e), Repeat: repeatOf(e), Concurrency: uint32(e.Concurrency),
		Request: request, WaitForResources: e.WaitForResources, Overcommit: e.Overcommit, Stop: stopOf(e),
		Budget: budgetOf(e),
		Checkpoint: core.Checkpoint{Every: uint64(e.Checkpoint.Every), AtEnd: e.Checkpoint.AtEnd,
			Keep: uint32(e.Checkpoint.Keep), Score: e.Checkpoint.Score, Mode: Mode(e.Checkpoint.Mode),
			DiskBytes: e.Checkpoint.Disk, PausesInMemory: e.Checkpoint.PausesInMemory},
		FailureRules: core.FailureRules{Retries: int32(e.Failures.Retries), Lost: uint32(e.Failures.Lost),
			FailFast: e.Failures.FailFast, FailRaise: e.Failures.Raise},
		StrictMetrics: e.StrictMetrics,
		PluginTraits: core.PluginTraits{Independent: t.Searcher.Independent, Quiet: t.Scheduler.Quiet,
			RunAhead: uint32(t.Scheduler.RunAhead), Saves: t.Trainable.Saves, Again: t.again()},
	}
	if e.Leased() {
		s.Leases = &core.Leases{IdleNS: int64(e.Idle), OwnRequests: len(e.Computed) > 0 || t.Trainable.Requests}
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

// RequiredScore returns the metric that decides which checkpoints are kept, if it is not an objective
// (B-053).
func RequiredScore(e *config.Experiment) []core.Required {
	score := e.Checkpoint.Score
	if score == "" || e.Checkpoint.Keep == 0 || slices.ContainsFunc(e.Objectives,
		func(o config.Objective) bool { return o.Metric == score }) {
		return nil
	}
	return []core.Required{{Metric: score, By: "key checkpoint.score"}}
}

// LeastRequest returns what each trial asks for. Where amounts depend on parameters, it returns the
// least of many requests, which limits how many trials may fit.
func LeastRequest(e *config.Experiment) (resource.Request, error) {
	if len(e.Computed) == 0 {
		return request.Of(e)
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
	return request.Least(e, drawn)
}

// drawnRequests is the number of points drawn to find the least request.
const drawnRequests = 100

// Mode converts "min" or "max".
func Mode(text string) stat.Mode {
	if text == "max" {
		return stat.Max
	}
	return stat.Min
}

// Trials returns the number of samples times the size of the grid (B-100), see [points.Plan].
func Trials(e *config.Experiment) int64 { return points.NewPlan(e).Trials() }

// repeatOf returns the setting as recorded: 0 where each suggestion runs once.
func repeatOf(e *config.Experiment) uint32 {
	if e.Repeat <= 1 {
		return 0
	}
	return uint32(e.Repeat)
}

// Runs returns how many trials run: each suggestion counts as often as it is repeated.
func Runs(e *config.Experiment) int64 {
	if n := Trials(e); n < 0 || e.Repeat <= 1 {
		return n
	}
	return points.Times(Trials(e), e.Repeat)
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

// budgetOf says of an expression only that the host has one.
func budgetOf(e *config.Experiment) core.Budget {
	b := core.Budget{TimeNS: int64(e.Budget.Time), TrialsFailed: uint32(e.Budget.TrialsFailed)}
	if when := e.Budget.When; when != nil {
		b.Judged, b.Timed = true, slices.Contains(when.Vars(), "time")
	}
	return b
}

// SchedulerNames joins the names of the schedulers for messages.
func SchedulerNames(e *config.Experiment) string {
	var names []string
	for _, ref := range e.Schedulers() {
		names = append(names, ref.Name)
	}
	return strings.Join(names, " with ")
}
