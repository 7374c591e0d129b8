package steer

import (
	"testing"

	"github.com/tunehost/tunehost/core"
)

// B-082: what would change nothing is not confirmed: only what is paused, or is about to be,
// can continue, and only what runs on or waits can be paused.
func TestWhatCanBePausedAndContinue(t *testing.T) {
	for _, c := range []struct {
		v              core.View
		paused, pauses bool
	}{
		{core.View{State: core.Paused}, true, false},
		{core.View{State: core.Running, Stopping: true, Pausing: true}, true, false},
		{core.View{State: core.Running, Pausing: true}, true, false}, // a result is on its way, or a checkpoint
		{core.View{State: core.Running, Stopping: true}, false, false},
		{core.View{State: core.Running}, false, true}, {core.View{State: core.Pending}, false, true},
		{core.View{State: core.Terminated}, false, false}, {core.View{State: core.Errored}, false, false},
	} {
		if isPaused(c.v) != c.paused || canPause(c.v) != c.pauses {
			t.Errorf("%s, stopping %t, pausing %t", c.v.State, c.v.Stopping, c.v.Pausing)
		}
	}
}
