package steer

import (
	"fmt"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// What a pause loses: of trials that have no checkpoint all, of others what came after
// their last; nothing where trials save when they are asked, and nothing of trials that
// do not run.
func TestLosses(t *testing.T) {
	name := func(no core.TrialNo) string { return fmt.Sprint("trial ", no) }
	for _, c := range []struct {
		saves bool
		no    core.TrialNo
		all   bool
		want  string
	}{
		{all: true, want: "1 running trial has no checkpoint and would begin again (trial 1: 1 iteration, 7s of " +
			"training lost); " +
			"1 running trial would go back to the last checkpoint (trial 0: 2 iterations lost)"},
		{no: 0, want: "1 running trial would go back to the last checkpoint (trial 0: 2 iterations lost)"},
		{no: 2, want: ""},
		{no: 3, want: ""},
		{all: true, saves: true, want: ""},
	} {
		m := atWork(c.saves)
		x := lossesOf(m, c.no, c.all, 3*time.Second)
		if got := x.text(name); got != c.want {
			t.Errorf("%+v: found %q", c, got)
		}
	}
	x := losses{again: []loss{{trial: 4, iterations: 2, time: time.Second},
		{trial: 5, iterations: 9, time: time.Minute}}}
	if got, want := x.text(name), "2 running trials have no checkpoint and would begin again (11 iterations, 1m1s of "+
		"training lost in all; the most, 9 iterations, 1m0s of training, by trial 5)"; got != want {
		t.Errorf("found %q", got)
	}
}

// begun is a machine that has started, with room for so many trials at a time.
func begun(traits core.PluginTraits, cpus uint64) *core.Machine {
	m := core.New()
	m.Apply(0, &core.ExperimentStarted{Spec: core.Spec{Rules: core.NewestRules, Trials: 4, Request: cpu(1),
		PluginTraits: traits}})
	m.Apply(0, &core.HostStarted{})
	m.Apply(0, &core.NodeJoined{Node: resource.Node{ID: 1, Name: "lab", Capacity: cpu(cpus).Bundles()[0]}})
	return m
}

func cpu(n uint64) resource.Request {
	r, err := resource.Plain(resource.Item{Name: "cpu", Amount: resource.Whole(n)})
	if err != nil {
		panic(err)
	}
	return r
}

// atWork is a machine 4 s old with three trials that run and one that waits: 0 has a
// checkpoint of its first of three results, 1 has none, 2 has one of its last.
func atWork(saves bool) *core.Machine {
	m := begun(core.PluginTraits{Saves: saves, Quiet: true}, 3)
	for no := range core.TrialNo(4) {
		m.Apply(0, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}})
		if no < 3 {
			m.Apply(0, &core.AttemptStarted{Trial: no, Attempt: 1})
		}
	}
	report := func(no core.TrialNo, checkpoint string) {
		m.Apply(4e9, &core.ResultReported{Trial: no, Attempt: 1, Checkpoint: checkpoint})
		if checkpoint != "" {
			m.Apply(4e9, &core.CheckpointSaved{Trial: no, Attempt: 1, ID: 1, Iteration: 1})
		}
	}
	report(0, "a")
	report(0, "")
	report(0, "")
	report(1, "")
	report(2, "a")
	return m
}

// A worker keeps what it has learned: a pause, of one trial or of all, loses nothing of it.
func TestLossesOfWorkers(t *testing.T) {
	m := core.New()
	m.Apply(0, &core.ExperimentStarted{Spec: core.Spec{Rules: core.NewestRules, Manual: true, Trials: 1,
		PluginTraits: core.PluginTraits{Quiet: true}}})
	m.Apply(0, &core.HostStarted{})
	m.Apply(0, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}})
	m.Apply(0, &core.OfferMade{})
	m.Apply(0, &core.AttemptStarted{Trial: 0, Attempt: 1})
	m.Apply(4e9, &core.ResultReported{Trial: 0, Attempt: 1})
	for _, all := range []bool{false, true} {
		x := lossesOf(m, 0, all, time.Second)
		if got := x.text(func(core.TrialNo) string { return "it" }); m.State(0) != core.Running || got != "" {
			t.Errorf("all %t: found %q", all, got)
		}
	}
}

// What an earlier attempt has lost is not lost again: a trial that began anew a second ago loses that second.
func TestLossesOfALaterAttempt(t *testing.T) {
	m := begun(core.PluginTraits{Quiet: true}, 1)
	m.Apply(0, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}})
	m.Apply(0, &core.AttemptStarted{Trial: 0, Attempt: 1})
	m.Apply(9e9, &core.ResultReported{Trial: 0, Attempt: 1})
	m.Apply(9e9, &core.PauseRequested{Trial: 0})
	m.Apply(9e9, &core.AttemptEnded{Trial: 0, Attempt: 1})
	m.Apply(20e9, &core.UnpauseRequested{Trial: 0})
	m.Apply(20e9, &core.AttemptStarted{Trial: 0, Attempt: 2})
	m.Apply(21e9, &core.ResultReported{Trial: 0, Attempt: 2})
	const want = "1 running trial has no checkpoint and would begin again (it: 1 iteration, 1s of training lost)"
	if got := Losses(m, 0, func(core.TrialNo) string { return "it" }); got != want {
		t.Errorf("found %q, %+v", got, m.View(0))
	}
}

// A trial that continues from another's checkpoint, and has not reported anything since,
// loses nothing of what it did before.
func TestLossesAfterAnExploit(t *testing.T) {
	m := atWork(false)
	m.Apply(5e9, &core.PauseRequested{Trial: 0})
	m.Apply(5e9, &core.AttemptEnded{Trial: 0, Attempt: 1})
	m.Apply(5e9, &core.SchedulerDecided{Commands: []core.Command{{Kind: core.Exploit, Trial: 0, Donor: 2,
		Params: []byte(`{"a":1}`)}}})
	m.Apply(5e9, &core.UnpauseRequested{Trial: 0})
	m.Apply(5e9, &core.NodeJoined{Node: resource.Node{ID: 2, Name: "more", Capacity: cpu(1).Bundles()[0]}})
	if v := m.View(0); v.At != 1 || v.Iteration != 3 {
		t.Fatalf("%+v", v)
	}
	x := lossesOf(m, 0, false, 0)
	if got := x.text(func(core.TrialNo) string { return "it" }); got != "" {
		t.Errorf("found %q", got)
	}
}
