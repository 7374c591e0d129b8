package exec_test

import (
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// A host whose executor grants nothing more ends when nothing runs any more, and not before.
func TestHopeless(t *testing.T) {
	w := begin(t, &engine{silent: make(chan string, 9)})
	for lease := range 3 {
		w.ask(core.LeaseID(lease+1), "cpu=1,gpu=1")
		<-w.engine.silent
	}
	in := func(lease string, until time.Time) sdk.LeaseEvent {
		return sdk.LeaseEvent{Lease: lease, Kind: sdk.LeasePending, Why: "it ends at 12:00", Until: until}
	}
	w.engine.say(grant("x-1"), in("x-2", time.Unix(9, 0)), in("x-3", time.Time{}))
	w.hears("LeaseGranted &{Lease:1", "LeasePending &{Lease:2", "LeasePending &{Lease:3")
	w.release(3) // what may still be granted
	w.release(1)
	w.hears("Interrupted")
	w.warned(`executor "test" grants no more leases (it ends at 12:00): nothing runs, and the host ends`)
	w.Close(t.Context())
}
