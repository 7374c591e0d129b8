package host

import (
	"testing"

	"github.com/tunehost/tunehost/core"
)

// B-082: what would change nothing is not confirmed: only what is paused, or is about to be,
// can go on.
func TestIsPaused(t *testing.T) {
	for _, c := range []struct {
		v    core.View
		want bool
	}{
		{core.View{State: core.Paused}, true}, {core.View{State: core.Running, Stopping: true}, true},
		{core.View{State: core.Running}, false}, {core.View{State: core.Terminated}, false}, {core.View{State: core.Pending}, false},
	} {
		if isPaused(c.v) != c.want {
			t.Errorf("%s, stopping %t", c.v.State, c.v.Stopping)
		}
	}
}
