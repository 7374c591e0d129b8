package core_test

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

// BenchmarkLeases is one result of a trial among a thousand that run on leases, and one trial
// after the other on them.
func BenchmarkLeases(b *testing.B) {
	const leases = 1000
	m := core.New()
	next, started := core.TrialNo(0), 0
	var apply func(e core.Event)
	apply = func(e core.Event) {
		var follow []core.Event
		for _, a := range m.Apply(0, e) {
			switch a := a.(type) {
			case core.RequestLease:
				follow = append(follow, &core.LeaseGranted{Lease: a.Lease, Bundles: []core.LeasedBundle{{Node: "n"}}})
			case core.AskSearcher:
				follow = append(follow, &core.SuggestionsReceived{Ask: a.Ask,
					Suggestions: make([]core.Suggestion, a.Count)})
			case core.StartAttempt:
				started++
			}
		}
		for _, e := range follow {
			apply(e)
		}
	}
	apply(&core.ExperimentStarted{Spec: core.Spec{Rules: core.NewestRules, Trials: -1,
		PluginTraits: core.PluginTraits{Quiet: true}, Concurrency: leases,
		Leases: &core.Leases{IdleNS: 1}, Objectives: []core.Objective{{Metric: "acc", Mode: stat.Max}}}})
	apply(&core.HostStarted{})
	apply(&core.MetricNamed{ID: 1, Name: "acc"})
	if started != leases {
		b.Fatalf("%d trials run", started)
	}
	b.Run("result", func(b *testing.B) {
		b.ReportAllocs()
		e := &core.ResultReported{Trial: next, Attempt: 1, Metrics: []core.Metric{{ID: 1, Value: 0.5}}}
		for b.Loop() {
			e.Iteration = 0
			m.Apply(0, e)
		}
	})
	b.Run("trial", func(b *testing.B) {
		for b.Loop() {
			apply(&core.ResultReported{Trial: next, Attempt: 1, Metrics: []core.Metric{{ID: 1, Value: 0.5}}})
			apply(&core.AttemptEnded{Trial: next, Attempt: 1})
			next++
		}
	})
}
