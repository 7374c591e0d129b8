package core

import (
	"testing"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// TestForgetsLosses: the count of a trial's lost nodes is dropped at its end (B-075), so that a
// million trials do not leave a million counts.
func TestForgetsLosses(t *testing.T) {
	m := New()
	one, err := resource.ParseRequest("cpu=1")
	if err != nil {
		t.Fatal(err)
	}
	two, err := resource.ParseBundle("cpu=2")
	if err != nil {
		t.Fatal(err)
	}
	m.Apply(0, &ExperimentStarted{Spec: Spec{Rules: NewestRules, Trials: 2, FailureRules: FailureRules{Lost: 5},
		Request:    one,
		Objectives: []Objective{{Metric: "acc", Mode: stat.Max}}}})
	m.Apply(0, &HostStarted{})
	join := func(id uint32) { m.Apply(0, &NodeJoined{Node: resource.Node{ID: id, Capacity: two}}) }
	join(1)
	m.Apply(0, &SuggestionsReceived{Suggestions: []Suggestion{{Params: []byte("{}")}, {Params: []byte("{}")}}})
	m.Apply(0, &NodeLeft{ID: 1})
	if len(m.losses) != 2 {
		t.Fatalf("%d losses are counted, 2 trials have lost their node", len(m.losses))
	}
	join(2)
	m.Apply(0, &AttemptEnded{Trial: 0, Attempt: 2})
	m.Apply(0, &AttemptEnded{Trial: 1, Attempt: 2, Cause: Cause{Kind: CauseTrainable, Text: "exit status 1"}})
	if m.State(0) != Terminated || m.State(1) != Errored {
		t.Fatal(m.State(0), m.State(1))
	}
	if len(m.losses) != 0 {
		t.Fatalf("losses of trials that have ended are counted: %v", m.losses)
	}
}
