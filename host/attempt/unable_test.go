package attempt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// spoilt is a driver on nodes, which gives up leases.
type spoilt struct {
	*testing.T
	*Driver
	places *places
	given  chan string
	starts int
}

func newSpoilt(t *testing.T) *spoilt {
	t.Helper()
	x := &spoilt{T: t, given: make(chan string, 10), starts: 1}
	c := heldClock{held: make(chan func(), 100)}
	go func() {
		for f := range c.held {
			f()
		}
	}()
	x.Driver, x.places = apartBy(t, c, func(o *Options) {
		o.GiveUp = func(lease core.LeaseID, why string) { x.given <- fmt.Sprint(lease, " ", why) }
	})
	return x
}

// on has a trial start on a node, or not, and returns its end.
func (x *spoilt) on(trial core.TrialNo, lease core.LeaseID, node string, starts bool) *core.AttemptEnded {
	x.Helper()
	startOn(x.Driver, trial, lease, node)
	p, _ := x.places.process(x.T, x.starts, 1)
	x.starts++
	run := p.last(train.Start).Run
	if starts {
		p.say <- []train.Event{{Kind: train.Started, Run: run}, {Kind: train.Ended, Run: run}}
	} else {
		p.say <- []train.Event{{Kind: train.Started, Run: run},
			{Kind: train.Ended, Run: run, NeverStarted: true, Error: "there is no python3"}}
	}
	_, end := heardOf(x.T, x.Driver)
	return end
}

// lost checks that the lease of a trial was given up.
func (x *spoilt) lost(end *core.AttemptEnded, lease core.LeaseID, node string) {
	x.Helper()
	want := fmt.Sprintf("%d a trial could not start on the node %s: there is no python3", lease, node)
	if got := <-x.given; got != want || !end.Interrupted || end.Cause.Kind != core.CauseNone {
		x.Errorf("%q is given up, want %q; %+v", got, want, end)
	}
}

// fails checks that a trial is in error.
func (x *spoilt) fails(end *core.AttemptEnded, node string) {
	x.Helper()
	if !end.NeverStarted || !strings.HasSuffix(end.Cause.Text, "there is no python3; this was on the node "+node) {
		x.Errorf("%+v", end)
	}
	if len(x.given) > 0 {
		x.Errorf("given up: %s", <-x.given)
	}
}

// B-074: a node on which no trial can start is given up, and trials start elsewhere. A trial that cannot start where
// others can is in error, and so is one that can start on none of several nodes.
func TestNodeOnWhichNothingStarts(t *testing.T) {
	x := newSpoilt(t)
	x.lost(x.on(1, 11, "n4", false), 11, "n4")
	x.on(2, 12, "n1", true)
	for lease := range core.LeaseID(5) { // failures.lost limits this
		x.lost(x.on(1, 20+lease, "n4", false), 20+lease, "n4")
	}
	x.fails(x.on(3, 31, "n1", false), "n1")
	x.lost(x.on(4, 41, "n4", false), 41, "n4")
	x.lost(x.on(4, 42, "n5", false), 42, "n5")
	x.fails(x.on(4, 43, "n6", false), "n6")
}

// B-074: a program that can start nowhere costs the first trial some leases, and the others none.
func TestNothingStartsAnywhere(t *testing.T) {
	x := newSpoilt(t)
	x.lost(x.on(1, 11, "n1", false), 11, "n1")
	x.lost(x.on(1, 12, "n1", false), 12, "n1")
	x.fails(x.on(1, 13, "n1", false), "n1")
	x.fails(x.on(2, 14, "n2", false), "n2")
}
