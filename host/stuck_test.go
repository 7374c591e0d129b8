package host

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/steer"
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
	if strings.Contains(seen.String(), "continue where it stopped") {
		t.Errorf("it advises what ends at once:\n%s", seen)
	}
	if got := finish(t, o).Outcome; got != core.Failed { // nothing tells the scheduler to wake them
		t.Fatal(got)
	}
	advises(t, o)
	o.Again.Paused = true
	if ended := finish(t, o); ended.Outcome != core.Finished {
		t.Fatalf("%+v", ended)
	}
	finish(t, o)
	contains(t, seen.String(), "--unpause: no trial is paused")
}

// advises checks that each refusal names the flag without which a host ends at once.
func advises(t *testing.T, o Options) {
	t.Helper()
	rests := &steer.Resting{View: opened(t, filepath.Join(o.Storage, "test")).Experiment, Shown: "DIR"}
	for _, c := range []struct {
		r    steer.Request
		want string
	}{
		{steer.Stop{}, "test is failed: no host runs it, and it uses nothing; `tunehost resume DIR --unpause` " +
			"resumes it with its paused trials, and then it can be stopped for good"},
		{steer.Unpause{Trial: "0"}, "test is failed: no host runs it; `tunehost resume DIR --unpause` resumes it " +
			"with its paused trials, and then it can be unpaused"},
		{steer.Add{Params: []byte("{}")}, "`tunehost set DIR trials=N` and then `tunehost resume DIR --unpause` run " +
			"more trials"},
	} {
		if _, err := rests.Do(c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
	o.Sets, o.Extend = []string{"scheduler=fifo"}, true
	if _, err := run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "and 2 have not: continue without "+
		"--extend (with --unpause, which continues those that are paused) until they have, or stop them meanwhile") {
		t.Error(err)
	}
}
