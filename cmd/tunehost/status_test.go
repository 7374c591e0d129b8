package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/view"
)

// B-123: what resume would refuse is not advised: trials that never started need a larger time
// budget where theirs is used up.
func TestNextStepsAfterTime(t *testing.T) {
	s := &view.Status{State: "stopped", Dir: "d", NeverStarted: 2}
	for used, want := range map[time.Duration]string{
		time.Second: "`tunehost resume d --unstarted`", time.Hour: "`tunehost run FILE --set budget.time=LIMIT --unstarted`",
	} {
		if got := strings.Join(nextSteps(s, view.OutOfTime(used, time.Minute)), ""); !strings.Contains(got, want) {
			t.Errorf("after %v: %s", used, got)
		}
	}
}
