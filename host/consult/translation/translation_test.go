package translation

import (
	"testing"

	"github.com/tunehost/tunehost/core"
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
