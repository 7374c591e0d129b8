package attempt

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// B-009: a trial is let run ahead when the decision on its recorded result takes long, by
// one result; one that is decided in time is not, and the decision is not counted twice.
func TestRunsAheadOfSlowDecisions(t *testing.T) {
	now := &later{}
	x, p := trains(t, now)
	reports := func() {
		p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score", Value: 1}}}}
		testplace.Soon(t, "the result", func() bool { return len(x.Inbox.Take(nil)) == 1 })
		x.Put(Work{Action: core.RunAhead{Trial: 0, Attempt: 1}})
		x.Flush()
		testplace.Soon(t, "the timer", func() bool { return now.set() == 1 })
	}
	credits := func() (n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range p.commands {
			n += int(c.Credits)
		}
		return n
	}
	decide := func(want int) {
		t.Helper()
		x.Put(Work{Action: core.ContinueAttempt{Trial: 0, Attempt: 1, Credits: 1}})
		// comes after it
		x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: uint32(want)}, Dir: x.Storage.Trial("0")})
		x.Flush()
		testplace.Soon(t, "the order after it", func() bool { return p.count(train.Save) == want })
	}
	reports()
	now.pass() // the decision takes long
	if n := credits(); n != 1 {
		t.Fatalf("it may report %d more results", n)
	}
	reports()
	decide(1) // the first decision comes: the trial has its credit already
	if n := credits(); n != 1 {
		t.Fatalf("it may report %d more results than the one ahead", n-1)
	}
	decide(2) // the second, in time
	if now.pass(); credits() != 2 {
		t.Errorf("%d credits for 2 results", credits())
	}
}

// B-009: the time of a decision counts from its own result, although one timer serves all results.
func TestLaterDecisionsHaveTheirTime(t *testing.T) {
	now := &later{}
	x, p := trains(t, now)
	saves := 0
	carried := func(a core.Action) {
		t.Helper()
		saves++
		x.Put(Work{Action: a})
		x.Put(Work{Action: core.SaveAttempt{Trial: 0, Attempt: 1, ID: uint32(saves)}, Dir: x.Storage.Trial("0")})
		x.Flush()
		testplace.Soon(t, "the order after it", func() bool { return p.count(train.Save) == saves })
	}
	reports := func() {
		t.Helper()
		p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score", Value: 1}}}}
		testplace.Soon(t, "the result", func() bool { return len(x.Inbox.Take(nil)) == 1 })
		carried(core.RunAhead{Trial: 0, Attempt: 1})
	}
	reports()
	carried(core.ContinueAttempt{Trial: 0, Attempt: 1, Credits: 1})
	reports()
	if n := now.set(); n != 1 {
		t.Errorf("%d timers run", n)
	}
	now.pass() // the time of the first result
	if n := p.count(train.Continue); n != 1 {
		t.Errorf("%d answers: the second decision had no time", n)
	}
	now.pass()
	if n := p.count(train.Continue); n != 2 {
		t.Errorf("%d answers: the second decision is waited for without end", n)
	}
}
