package exec_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// An engine may report new reasons very often. The core, and so the record, gets the first one at once,
// and then the newest one every ten seconds.
func TestPendingFlood(t *testing.T) {
	c := &byHand{now: time.Unix(1, 0)}
	w := beginAt(t, c, &engine{})
	w.ask(1, "cpu=1")
	w.hears("LeasePending &{Lease:1 Why:in the queue}")
	flood := func(next core.LeaseID) {
		for i := range 1000 {
			w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeasePending, Why: fmt.Sprintf("number\n%d", i)})
		}
		w.ask(next, "cpu=1") // its answer comes after all of these
		w.hears(fmt.Sprintf("LeasePending &{Lease:%d", next))
		c.callEnds()
	}
	flood(2)
	c.pass(pendingEvery - 1)
	flood(3)
	c.pass(1)
	w.hears(`LeasePending &{Lease:1 Why:number\n999}`)
	flood(4) // ends with the same reason
	c.pass(pendingEvery)
	c.pass(pendingEvery)
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeasePending, Why: "soon"})
	w.hears("LeasePending &{Lease:1 Why:soon}")
	flood(5)
	w.release(1)
	w.Flush()
	c.pass(pendingEvery)
	if kept := w.Close(t.Context()); kept != nil || len(w.events) != 0 {
		t.Error(kept, len(w.events))
	}
}

const pendingEvery = 10 * time.Second
