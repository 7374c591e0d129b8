package host

import (
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/loading"
)

// Outside returns how plugins are started outside of an experiment, and a function that ends what they leave behind.
// If this program is killed before, a reaper does so (B-025).
func Outside(plugins *bundled.Registry) (start loading.Starter, end func()) {
	guard := plugins.Guard()
	here := &exec.Local{Marked: exec.Marked{Mark: guard.Mark, Guard: guard.Start}}
	return here.Run, guard.Close
}
