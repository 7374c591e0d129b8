package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// B-123: no command is suggested that resume would refuse: trials that never started need a larger
// time budget if theirs is used up.
func TestNextStepsAfterTime(t *testing.T) {
	for used, want := range map[time.Duration]string{
		time.Second: "`tunehost resume d --unstarted`", time.Hour: "`tunehost run FILE --set budget.time=LIMIT " +
			"--unstarted`",
	} {
		s := &view.Status{State: "stopped", Dir: "d", NeverStarted: 2,
			Spent: view.Spent{Elapsed: used, Budget: time.Minute}}
		if got := strings.Join(nextSteps(s, false), ""); !strings.Contains(got, want) {
			t.Errorf("after %v: %s", used, got)
		}
	}
}

// What ran when its host was killed is named in the singular and in the plural.
func TestNextStepsAfterAKill(t *testing.T) {
	for n, want := range map[int]string{
		1: "`tunehost resume d` records how the trial that was RUNNING has ended",
		2: "`tunehost resume d` records how the 2 trials that were RUNNING have ended",
	} {
		s := &view.Status{State: "stopped", Dir: "d", Counts: map[core.State]int{core.Running: n}}
		if got := strings.Join(nextSteps(s, false), ""); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// B-123: after a failure of a user's plugin, it continues with a changed one only if a flag allows it.
func TestNextStepsAfterFailedPlugin(t *testing.T) {
	s := &view.Status{State: "failed", Dir: "d"}
	for own, want := range map[bool]string{
		false: "`tunehost resume d` continues",
		true:  "`tunehost resume d` continues; with --accept-plugins once a plugin is repaired",
	} {
		if got := strings.Join(nextSteps(s, own), ""); got != want {
			t.Errorf("own plugins %t: %s", own, got)
		}
	}
}

// B-123: nothing continues before a budget that is used up is larger, and each of them is named.
func TestNextStepsAfterFailures(t *testing.T) {
	s := &view.Status{State: "finished", Dir: "d", Planned: 9, Made: 3,
		Counts: map[core.State]int{core.Errored: 3}, Spent: view.Spent{Failures: 3}}
	want := "`tunehost run FILE --set budget.trials_failed=LIMIT` continues, with a higher limit of failed trials"
	if got := strings.Join(nextSteps(s, false), ""); got != want {
		t.Error(got)
	}
	s.Elapsed, s.Budget = 1, 1
	want = "`tunehost run FILE --set budget.time=LIMIT --set budget.trials_failed=LIMIT` continues, with more time " +
		"and a higher limit of failed trials"
	if got := strings.Join(nextSteps(s, false), ""); got != want {
		t.Error(got)
	}
}
