package exec_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestGrants(t *testing.T) {
	w := begin(t, &engine{})
	w.ask(1, "spread(cpu=0.5,gpu=1)")
	w.hears("LeasePending &{Lease:1 Why:in the queue}")
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeasePending, Why: "in the queue"}, // nothing new
		grant("x-1"), grant("x-1"),
		sdk.LeaseEvent{Lease: "x-01", Kind: sdk.LeaseLost}, sdk.LeaseEvent{Lease: "y-1", Kind: sdk.LeaseLost},
		sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseEnding, Until: time.Unix(0, 5), Why: "wall time"},
		sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseEnding, Until: time.Unix(0, 6)}, // nothing new
		sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseLost, Why: "gone"})
	w.hears("LeaseGranted &{Lease:1 Bundles:[{Node:n1 Devices:[3]}] Until:7}",
		"LeaseEnding &{Lease:1 At:5 Why:wall time}",
		"LeaseLost &{Lease:1 Why:gone}")
	w.ends("adopt []", "allocate x-1 spread [[{cpu 0.5} {gpu 1}]]")
}

func TestRefused(t *testing.T) {
	w := begin(t, &engine{})
	w.ask(4, "cpu=1")
	w.hears("LeasePending")
	w.engine.say(sdk.LeaseEvent{Lease: "x-4", Kind: sdk.LeaseRefused, Why: "no such partition"})
	w.hears("LeaseRefused &{Lease:4 Why:no such partition; the request: cpu 1}")
	w.ends("adopt []", "allocate x-4 pack [[{cpu 1}]]")
}

// B-134: the leases of an earlier host are adopted; what the engine does not have is lost.
func TestAdopts(t *testing.T) {
	w := begin(t, &engine{leases: map[string]int{"x-2": 1, "x-9": 1}}, 2, 5)
	w.hears("LeaseGranted &{Lease:2", "LeaseLost &{Lease:5 Why:unknown}")
	w.release(2)
	w.ends("adopt [x-2 x-5]", "release [x-2]")
	if len(w.engine.leases) != 0 {
		t.Error(w.engine.leases)
	}
}

// B-130: calls that fail are repeated, and a plugin that ends is started again. No lease
// is allocated twice or left behind, and the core receives each grant once.
func TestFailures(t *testing.T) {
	down := errors.New("the controller is down")
	for name, script := range map[string]map[string][]error{
		"fails":   {"Adopt": {down}, "Allocate": {down, down, down, down}, "Release": {down}},
		"crashes": {"Adopt": {errCrash}, "Allocate": {errCrash, nil, errCrash}, "Release": {errCrash, down, errCrash}},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, &engine{script: script})
			w.ask(1, "gpu=1")
			w.ask(2, "gpu=1")
			granted := map[core.LeaseID]bool{}
			for len(granted) < 2 {
				switch e := (<-w.events).(type) {
				case *core.LeasePending:
					w.engine.say(grant(fmt.Sprint("x-", e.Lease)))
				case *core.LeaseGranted:
					if granted[e.Lease] {
						t.Errorf("%d is granted twice", e.Lease)
					}
					granted[e.Lease] = true
				default:
					t.Fatalf("%T %+v", e, e)
				}
			}
			w.release(1)
			w.release(2)
			if kept := w.Close(t.Context()); kept != nil || len(w.engine.leases) != 0 {
				t.Errorf("not released: %v; the engine has %v", kept, w.engine.leases)
			}
			if name == "crashes" {
				w.warned("; it is started again each time")
			}
		})
	}
}

// A lease that waits for an executor that does not answer says so.
func TestWaitsForExecutor(t *testing.T) {
	w := begin(t, &engine{script: map[string][]error{"Allocate": {errors.New("timeout")}}})
	w.ask(1, "cpu=1")
	w.hears(`LeasePending &{Lease:1 Why:executor "test" failed: timeout}`)
	w.hearsAtLast("LeasePending &{Lease:1 Why:in the queue}")
	w.ends("adopt []", "allocate x-1 pack [[{cpu 1}]]")
}

// An executor that fails before it has requested a lease first reports that it does not have the lease.
// Nothing is left behind, whether this report comes before or after the second request.
func TestNotAskedIsNotLost(t *testing.T) {
	w := begin(t, &engine{script: map[string][]error{"Allocate": {errDead}}})
	w.ask(1, "cpu=1")
	w.hears(`LeasePending &{Lease:1 Why:executor "test" ended in Allocate}`)
	if _, lost := (<-w.events).(*core.LeaseLost); !lost {
		w.release(1)
	}
	if kept := w.Close(t.Context()); kept != nil || len(w.engine.leases) != 0 {
		t.Errorf("not released: %v; the engine has %v", kept, w.engine.leases)
	}
}

// Events of a lease that the core has released do not count.
func TestLateNews(t *testing.T) {
	w := begin(t, &engine{script: map[string][]error{"Release": {errors.New("busy")}}})
	w.ask(1, "cpu=1")
	w.hears("LeasePending")
	w.release(1)
	w.engine.say(grant("x-1"), sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseLost})
	w.ends("adopt []", "allocate x-1 pack [[{cpu 1}]]", "release [x-1]")
}

// Later versions of the protocol may have more kinds of events.
func TestUnknownEvent(t *testing.T) {
	w := begin(t, &engine{})
	w.ask(1, "gpu=1")
	w.hears("LeasePending")
	w.engine.say(sdk.LeaseEvent{Lease: "x-1"}, sdk.LeaseEvent{Lease: "x-1", Kind: 77}, grant("x-1"))
	w.hears("LeaseGranted")
	w.ends("adopt []", "allocate x-1 pack [[{gpu 1}]]")
	w.warned("a kind that this version does not know")
	if w.engine.opened != 1 {
		t.Error("started", w.engine.opened, "times")
	}
}

// A lease that is lost during the call that requests it is lost, and the user is told why. Otherwise trials
// would wait for it forever.
func TestLostWhileAsked(t *testing.T) {
	e := &engine{silent: make(chan string, 10)}
	heard := make(chan struct{})
	e.logged = func(line string) {
		if strings.Contains(line, `lease x-1 of executor "test" was lost before a trial could use it: no room;`) {
			close(heard)
		}
	}
	e.during = func() {
		e.tell(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseLost, Why: "no room"})
		<-heard
	}
	w := begin(t, e)
	w.ask(1, "cpu=1")
	w.hears("LeaseLost &{Lease:1 Why:no room}")
	<-e.silent // the call is about to end
	w.ends("adopt []", "allocate x-1 pack [[{cpu 1}]]")
}
