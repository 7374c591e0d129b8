package view

import (
	"testing"

	"github.com/tunehost/tunehost/core"
)

// The core's cause for a trial that returns to the queue decides whether that is a failure, so this
// test uses the core. B-071
func TestFailureByTheCoresOwnCause(t *testing.T) {
	m := core.New()
	var got []string
	apply := func(e core.Event) {
		for _, a := range m.Apply(0, e) {
			tell, ok := a.(*core.Tell)
			if !ok || tell.Observation.Kind != core.SawRequeued && tell.Observation.Kind != core.SawFailed {
				continue
			}
			got = append(got, (&Event{Kind: tell.Observation.Kind, Reason: tell.Observation.Reason(),
				Retried: tell.Observation.Retried}).Failure())
		}
	}
	apply(&core.ExperimentStarted{Spec: core.Spec{Manual: true, FailureRules: core.FailureRules{Retries: 1},
		Objectives: []core.Objective{{Metric: "acc"}}, Trials: 1}})
	apply(&core.HostStarted{})
	apply(&core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}})
	apply(&core.OfferMade{})
	apply(&core.AttemptStarted{Attempt: 1})
	apply(&core.HostStarted{}) // interrupted: not a failure
	apply(&core.OfferMade{})
	apply(&core.AttemptEnded{Attempt: 2, Cause: core.TrainableFailure("exit status 1")})
	apply(&core.OfferMade{})
	apply(&core.AttemptEnded{Attempt: 3, Cause: core.TrainableFailure("exit status 2")})
	apply(&core.TrialReset{}) // not a failure
	apply(&core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}, Extra: true})
	apply(&core.StopRequested{Trial: 1})
	apply(&core.TrialReset{Trial: 1, Unstarted: true}) // not a failure
	want := []string{"", "exit status 1", "exit status 2", "", ""}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %q, want %q", i, got[i], want[i])
		}
	}
}
