package view

import (
	"testing"

	"github.com/tunehost/tunehost/core"
)

// As many trials are planned as there are, at least, whatever number is set later; those that the user has added come
// on top of the number that is set.
func TestPlanned(t *testing.T) {
	spec := core.Spec{Rules: core.NewestRules, Manual: true, Trials: 6, PluginTraits: core.PluginTraits{Quiet: true}}
	m := core.New()
	m.Apply(0, &core.ExperimentStarted{Spec: spec})
	m.Apply(0, &core.HostStarted{})
	for no := range 5 {
		m.Apply(0, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}, Extra: no == 4})
	}
	for _, c := range []struct{ trials, want int64 }{{6, 7}, {4, 5}, {2, 5}, {-1, -1}, {8, 9}} {
		spec.Trials = c.trials
		m.Apply(0, &core.SettingsChanged{Spec: spec})
		if got := Planned(m); got != c.want || Added(m) != 1 || m.Trials() != 5 {
			t.Errorf("trials=%d: %d are planned, %d were added, there are %d", c.trials, got, Added(m), m.Trials())
		}
	}
}
