package exec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// askSilent requests leases from an engine that says nothing about them, until all but the last are
// accepted.
func (w *world) askSilent(leases core.LeaseID) {
	w.t.Helper()
	for lease := range leases {
		w.ask(lease+1, "cpu=1,gpu=1")
		<-w.engine.silent
	}
}

// An executor whose Watch hangs accepts leases and says nothing about them: the user is told once, and the
// leases say why they wait.
func TestSilentExecutor(t *testing.T) {
	c := &byHand{now: time.Unix(1, 0)}
	w := beginAt(t, c, &engine{silent: make(chan string, 9)})
	w.askSilent(3)
	c.callEnds()
	c.pass(time.Minute)
	waiting := map[core.LeaseID]string{}
	for len(w.events) > 0 {
		e := (<-w.events).(*core.LeasePending)
		waiting[e.Lease] = e.Why
	}
	const why = `executor "test" has reported nothing about it for 1m`
	if waiting[1] != why || waiting[2] != why {
		t.Error(waiting)
	}
	said := w.log.String()
	if strings.Count(said, "has reported nothing for 1m about leases that it has accepted: x-") != 1 {
		t.Error(said)
	}
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseRefused, Why: "full"})
	w.hears("LeaseRefused &{Lease:1 Why:full; the request: cpu 1, gpu 1}")
	w.Close(t.Context())
}

// There is no warning about leases that the executor has reported, or that the core has released.
func TestNotSilent(t *testing.T) {
	c := &byHand{now: time.Unix(1, 0)}
	w := beginAt(t, c, &engine{silent: make(chan string, 9)})
	w.askSilent(4)
	w.engine.say(grant("x-1"), sdk.LeaseEvent{Lease: "x-3", Kind: sdk.LeasePending, Why: "in the queue"}, grant("x-4"))
	w.hears("LeaseGranted &{Lease:1", "LeasePending &{Lease:3 Why:in the queue}", "LeaseGranted &{Lease:4")
	w.release(2)
	c.callEnds()
	c.pass(time.Minute)
	w.Close(t.Context())
	if said := w.log.String(); said != "" || len(w.events) > 0 {
		t.Error(said, len(w.events))
	}
}
