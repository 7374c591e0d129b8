package core_test

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

// TestManualKeepsStatistics: means over the last results continue across the pause of a trial whose
// state the caller keeps (B-017, B-055).
func TestManualKeepsStatistics(t *testing.T) {
	m := core.New()
	apply := func(e core.Event) { m.Apply(0, e) }
	report := func(attempt uint32, x float64) {
		apply(&core.ResultReported{Attempt: attempt, Metrics: []core.Metric{{ID: 1, Value: x}}})
	}
	apply(&core.ExperimentStarted{Spec: core.Spec{Manual: true, Trials: 1, PluginTraits: core.PluginTraits{Quiet: true},
		Objectives: []core.Objective{{Metric: "acc", Mode: stat.Max}}}})
	apply(&core.HostStarted{})
	apply(&core.MetricNamed{ID: 1, Name: "acc"})
	apply(&core.OfferMade{})
	apply(&core.TrialGiven{})
	report(1, 2)
	apply(&core.PauseRequested{})
	apply(&core.AttemptEnded{Attempt: 1})
	if s := m.State(0); s != core.Paused {
		t.Fatalf("the trial is %s", s)
	}
	apply(&core.UnpauseRequested{})
	apply(&core.OfferMade{})
	report(2, 4)
	s, _ := m.Summary(0, 1)
	if v := m.View(0); v.Iteration != 2 || v.Results != 2 || s.Mean5 != 3 || s.Count != 2 {
		t.Fatalf("iteration %d, %d results, %+v", v.Iteration, v.Results, s)
	}
}
