package attempt

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// asked is what a driver asks of the agents of a lease.
type asked struct {
	at      exec.Place
	bundles int
	within  time.Duration
}

// answering is a driver whose agents give an answer, and what they are asked.
func answering(t *testing.T, c clock.Clock, leaving bool, err error) (*Driver, *places, chan asked) {
	t.Helper()
	questions := make(chan asked, 10)
	x, p := apartBy(t, c, func(o *Options) {
		o.Noticed = func(_ context.Context, at exec.Place, bundles int, within time.Duration) (bool, error) {
			questions <- asked{at, bundles, within}
			return leaving, err
		}
	})
	return x, p, questions
}

// endsWell has the program of trial 1 end without an error.
func endsWell(t *testing.T, p *places) {
	t.Helper()
	process, _ := p.process(t, 1, 1)
	run := process.last(train.Start).Run
	process.say <- []train.Event{{Kind: train.Started, Run: run}, {Kind: train.Ended, Run: run}}
}

// B-075: a program that handles the signal with which an engine takes its lease away may end without an error. It has
// not completed its trial: the end is told after the news of the lease, and as interrupted if there are none.
func TestPoliteEndIsNoCompletion(t *testing.T) {
	for name, err := range map[string]error{"noticed": nil, "cut off": errors.New("the agent is lost")} {
		t.Run(name, func(t *testing.T) {
			c := heldClock{held: make(chan func(), 1)}
			x, p, questions := answering(t, c, err == nil, err)
			startOn(x, 1, 7, "n1")
			endsWell(t, p)
			if q := <-questions; q.at.Lease != 7 || q.bundles != 1 || q.within > maxSkew {
				t.Errorf("the agents are asked %+v", q)
			}
			later := <-c.held
			for _, n := range x.Inbox.Take(nil) {
				if e, ok := n.Event.(*core.AttemptEnded); ok {
					t.Errorf("it was told at once: %+v", e)
				}
			}
			later()
			if _, end := heardOf(t, x); !end.Interrupted || end.Cause.Kind != core.CauseNone {
				t.Errorf("%+v", end)
			}
		})
	}
}

// The end of a program that is told to stop meanwhile, because its lease ends, is told at once, and once.
func TestPoliteEndBeforeTheNotice(t *testing.T) {
	c := heldClock{held: make(chan func(), 1)}
	x, p, _ := answering(t, c, true, nil)
	startOn(x, 1, 7, "n1")
	endsWell(t, p)
	later := <-c.held
	x.Put(Work{Action: core.StopAttempt{Trial: 1, Attempt: 1, Paused: true}, Dir: x.Storage.Trial("1")})
	x.Flush()
	if _, end := heardOf(t, x); end.Cause.Kind != core.CauseNone {
		t.Errorf("%+v", end)
	}
	later()
	if list := x.Inbox.Take(nil); len(list) > 0 {
		t.Errorf("more was told: %+v", list)
	}
}

// An end on a node that stays is told without a delay, as what it is.
func TestEndOnALastingNode(t *testing.T) {
	c := heldClock{held: make(chan func(), 1)}
	x, p, questions := answering(t, c, false, nil)
	startOn(x, 1, 7, "n1")
	endsWell(t, p)
	if _, end := heardOf(t, x); end.Interrupted || end.Cause.Kind != core.CauseNone {
		t.Errorf("%+v", end)
	}
	if len(questions) != 1 || len(c.held) != 0 {
		t.Errorf("%d questions, %d waits", len(questions), len(c.held))
	}
}
