package exec_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// A call that takes long is said while it takes long: commands of an engine that does not answer try for long
// themselves.
func TestSlowCall(t *testing.T) {
	c := &byHand{now: time.Unix(1, 0)}
	calls, end := make(chan bool), make(chan bool)
	w := beginAt(t, c, &engine{silent: make(chan string, 1), during: func() {
		calls <- true
		<-end
	}})
	w.ask(1, "cpu=1")
	<-calls
	c.pass(5 * time.Second)
	w.hears(`LeasePending &{Lease:1 Why:executor "test" has not answered for 5s}`)
	w.warned(`executor "test" has not answered for 5s; trials wait until it does`)
	c.pass(20 * time.Second) // what was said is not taken back too soon
	close(end)
	w.hears("LeasePending &{Lease:1 Why:}")
	w.Close(t.Context())
}

// An executor that fails before it knows the leases is the reason why they wait, from its first failure on.
func TestFailedAdopt(t *testing.T) {
	c := &byHand{now: time.Unix(1, 0)}
	e := &engine{script: map[string][]error{"Adopt": slices.Repeat([]error{errors.New("no controller")}, 2)}}
	w := beginAt(t, c, e, 1)
	w.hears(`LeasePending &{Lease:1 Why:executor "test" failed: no controller}`)
	w.ask(2, "cpu=1")
	for len(w.events) == 0 && t.Context().Err() == nil {
		c.pass(time.Second)
		time.Sleep(time.Millisecond)
	}
	w.hears(`LeasePending &{Lease:2 Why:executor "test" failed: no controller}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the clock stands
	w.Close(ctx)
}
