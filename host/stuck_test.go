package host

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// A scheduler that pauses trials and forgets them ends the experiment; --unpause continues it.
func TestForgottenTrials(t *testing.T) {
	keeper := sdk.SchedulerPlugin{
		Info: sdk.Info{Name: "keeper", Version: "1", Options: []byte(`{"type": "object"}`)},
		Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) {
			return decider(func(e *sdk.Event, out *sdk.Decisions) {
				d := sdk.Decision{Event: e.Number}
				if e.Iteration == 2 {
					d.Verdict, d.Reason = sdk.Pause, "later"
				}
				out.Decisions = append(out.Decisions, d)
			}), sdk.Traits{}, nil
		},
	}
	o, seen := quick(t, search("space: {x: {uniform: [0, 1]}}\nscheduler: keeper\ntrials: 2\n"), keeper)
	if got := finish(t, o).Outcome; got != core.Failed {
		t.Fatal(got)
	}
	contains(t, seen.String(), "--unpause  continue the paused trials")
	if got := finish(t, o).Outcome; got != core.Failed { // nothing tells the scheduler to wake them
		t.Fatal(got)
	}
	o.Again.Paused = true
	if ended := finish(t, o); ended.Outcome != core.Finished {
		t.Fatalf("%+v", ended)
	}
	finish(t, o)
	contains(t, seen.String(), "--unpause: no trial is paused")
}
