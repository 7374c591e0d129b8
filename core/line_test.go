package core

import (
	"testing"

	"github.com/tunehost/tunehost/core/resource"
)

// Trials that have started leave the line also where they run on leases, so that an event
// costs the same after many trials as after few.
func TestLineStaysShort(t *testing.T) {
	one, err := resource.ParseRequest("cpu=1")
	if err != nil {
		t.Fatal(err)
	}
	m := New()
	m.Apply(0, &ExperimentStarted{Spec: Spec{Rules: NewestRules, Trials: 1000, Concurrency: 1, Request: one,
		PluginTraits: PluginTraits{Quiet: true},
		Leases:       &Leases{IdleNS: 1}}})
	m.Apply(0, &HostStarted{})
	m.Apply(0, &LeaseGranted{Lease: 1, Bundles: []LeasedBundle{{Node: "n"}}})
	for no := range TrialNo(1000) {
		m.Apply(0, &SuggestionsReceived{Ask: uint64(no), Suggestions: []Suggestion{{Params: []byte("{}")}}})
		m.Apply(0, &ResultReported{Trial: no, Attempt: 1, Iteration: 1})
		m.Apply(0, &AttemptEnded{Trial: no, Attempt: 1})
		if n := len(m.pending.items); n > 70 {
			t.Fatalf("%d places are in line after %d trials, and none waits", n, no+1)
		}
	}
	if o, _ := m.Outcome(); o != Finished {
		t.Fatal(o)
	}
}
