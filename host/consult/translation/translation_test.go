package translation

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// TestEventKinds checks that every observation of the core has an event for plugins.
func TestEventKinds(t *testing.T) {
	for k := core.SawAdded; k <= core.SawSearchEnded; k++ {
		if eventKinds[k] == 0 {
			t.Errorf("observation %d has no event for plugins", k)
		}
	}
}

// TestIndependentSearchersHearNoResults checks who is told results. Everything else is told to all.
func TestIndependentSearchersHearNoResults(t *testing.T) {
	both := core.ToSearcher | core.ToScheduler
	for _, c := range []struct {
		to          core.Audience
		independent bool
		kind        core.ObservationKind
		want        int
	}{
		{core.ToSearcher, true, core.SawResult, 0},
		{core.ToSearcher, false, core.SawResult, 1},
		{core.ToScheduler, true, core.SawResult, 1},
		{core.ToSearcher, true, core.SawStarted, 1},
	} {
		heard := 0
		l := Listener{To: c.to, Traits: sdk.Traits{Independent: c.independent}, Hear: func(sdk.Event, bool) { heard++ }}
		x := Translator{Machine: one(t)}
		if err := x.Tell(core.Observation{Kind: c.kind, To: both}, &l); err != nil || heard != c.want {
			t.Errorf("%+v: told %d times, %v", c, heard, err)
		}
	}
}

// one returns a machine with one trial.
func one(t *testing.T) *core.Machine {
	t.Helper()
	m := core.New()
	m.Apply(0, &core.ExperimentStarted{Spec: core.Spec{Trials: 1}})
	m.Apply(0, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte(`{}`)}})
	return m
}

// Seconds are told if all runs of a suggestion, and all attempts of a trial, were.
func TestSecondsTold(t *testing.T) {
	for _, c := range []struct {
		told []bool
		want bool
	}{{[]bool{true, true}, true}, {[]bool{true, false}, false}, {[]bool{false, true}, false}} {
		m := core.New()
		m.Apply(0, &core.ExperimentStarted{Spec: core.Spec{Manual: true, Trials: 2, Concurrency: 2,
			Objectives: []core.Objective{{Metric: "loss", Mode: stat.Min}}}})
		m.Apply(0, &core.HostStarted{})
		for no, told := range c.told {
			m.Apply(1, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte(`{}`)}})
			m.Apply(1, &core.OfferMade{})
			m.Apply(1, &core.AttemptStarted{Trial: core.TrialNo(no), Attempt: 1, Told: told})
		}
		m.Apply(9e9, &core.Ticked{})
		x := Translator{Machine: m}
		for no, told := range c.told {
			o := core.Observation{Kind: core.SawResult, Trial: core.TrialNo(no)}
			e, err := x.Event(o, core.ToSearcher, sdk.Traits{})
			if e.SecondsTold != told || e.Seconds < 8 || err != nil {
				t.Errorf("trial %d of %v: %t of %v s: %v", no, c.told, e.SecondsTold, e.Seconds, err)
			}
		}
		together := core.Observation{Kind: core.SawCompleted, Runs: 2}
		if e, err := x.Event(together, core.ToSearcher, sdk.Traits{}); e.SecondsTold != c.want || err != nil {
			t.Errorf("both of %v: %t, want %t: %v", c.told, e.SecondsTold, c.want, err)
		}
	}
}

// B-021: a trial that ends with the experiment or by the user before its first result, or because nothing was left to
// train, is no failed one for a searcher; one that a rule or a scheduler ends is. Records of earlier rules keep what
// they had.
func TestUntried(t *testing.T) {
	for _, c := range []struct {
		rules core.Rules
		cause core.CauseKind
		to    core.Audience
		want  sdk.EventKind
	}{
		{core.RulesV8, core.CauseTimeBudget, core.ToSearcher, sdk.TrialRemoved},
		{core.RulesV8, core.CauseNothingLeft, core.ToSearcher, sdk.TrialRemoved},
		{core.RulesV8, core.CauseTimeBudget, core.ToScheduler, sdk.TrialCompleted},
		{core.RulesV8, core.CauseTimeReached, core.ToSearcher, sdk.TrialCompleted},
		{core.RulesV8, core.CauseUser, core.ToSearcher, sdk.TrialCompleted},
		{core.RulesV9, core.CauseUser, core.ToSearcher, sdk.TrialRemoved},
		{core.RulesV9, core.CauseUser, core.ToScheduler, sdk.TrialCompleted},
		{core.RulesV9, core.CauseScheduler, core.ToSearcher, sdk.TrialCompleted},
		{core.RulesV7, core.CauseTimeBudget, core.ToSearcher, sdk.TrialCompleted},
	} {
		x := Translator{Machine: core.New()}
		x.Machine.Apply(0, &core.ExperimentStarted{Spec: core.Spec{Trials: 1, Rules: c.rules}})
		x.Machine.Apply(0, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte(`{}`)}})
		o := core.Observation{Kind: core.SawCompleted, Cause: &core.Cause{Kind: c.cause}}
		if e, err := x.Event(o, c.to, sdk.Traits{}); err != nil || e.Kind != c.want {
			t.Errorf("%+v: %v: %v", c, e.Kind, err)
		}
		if o.Runs = 1; c.to != core.ToSearcher {
			continue
		}
		if e, err := x.Event(o, c.to, sdk.Traits{}); err != nil || e.Kind != c.want {
			t.Errorf("%+v: all runs: %v: %v", c, e.Kind, err)
		}
	}
}
