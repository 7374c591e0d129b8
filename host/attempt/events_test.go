package attempt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// What a process reports in one message is recorded together: the loop wakes up once.
func TestMessageIsTakenWhole(t *testing.T) {
	box := inbox.New()
	early := make(chan bool, 100)
	look := looking{look: func() {
		select {
		case <-box.Signal():
			early <- true
		default:
		}
	}}
	x, p := trains(t, look, func(o *Options) { o.Inbox, o.Deadline = box, time.Hour })
	look.look() // the trial has started
	x.with(0, 1, func(r *run) { r.Grant(7) })
	result := train.Event{Kind: train.Result, Run: p.last(train.Start).Run,
		Metrics: []sdk.Metric{{Name: "loss", Value: 1}}}
	p.say <- slices.Repeat([]train.Event{result}, 8)
	<-box.Signal()
	if got := box.Take(nil); len(got) != 8 || len(early) != 0 {
		t.Errorf("the loop took %d of 8 results, and was woken early %d times", len(got), len(early))
	}
}

// looking is a clock that calls look whenever somebody reads it.
type looking struct {
	clock.System
	look func()
}

func (l looking) Now() time.Time {
	l.look()
	return l.System.Now()
}

// A process that speaks of runs that it was not given, answers what was not
// asked, and continues after the end is not heard.
func TestInvalidEvents(t *testing.T) {
	x, p := trains(t, clock.System{})
	ok := []sdk.Metric{{Name: "score", Value: 1}}
	p.say <- []train.Event{
		{Kind: train.Result, Run: 99, Metrics: ok},
		{Kind: train.Ended, Run: 99, Error: "not mine"},
		{Kind: train.Saved, Run: 1, Checkpoint: "/etc", Iteration: 1 << 60},
		{Kind: train.Started, Run: 0},
		{Kind: train.Result, Run: 1, Metrics: ok},
		{Kind: train.Ended, Run: 1},
		{Kind: train.Result, Run: 1, Metrics: ok},
		{Kind: train.Ended, Run: 1, Error: "twice"},
		{Kind: 77, Run: 1},
	}
	list, end := heardOf(t, x)
	if len(list) != 2 || list[0].Result == nil || end.Cause.Kind != core.CauseNone {
		t.Errorf("%d pieces of news, the end is %+v; want a result and a good end", len(list), end)
	}
}

// Lines for the log beyond 1 MiB a second are dropped and counted.
func TestFloodOfLogs(t *testing.T) {
	x, p := trains(t, clock.System{})
	seen := &testplace.Screen{}
	x.Log = hostlog.New(hclog.New(&hclog.LoggerOptions{Output: seen}))
	line, began := train.Event{Kind: train.Log, Run: 1, Text: strings.Repeat("z", 1<<10)}, time.Now()
	for range 64 {
		events := make([]train.Event, 256)
		for i := range events {
			events[i] = line
		}
		p.say <- events
	}
	testplace.Soon(t, "the flood's end", func() bool { return len(p.say) == 0 })
	testplace.Soon(t, "room for more", func() bool {
		p.say <- []train.Event{{Kind: train.Log, Run: 1, Text: "the next line"}}
		return strings.Count(seen.String(), " lines dropped: trial=0") > 1
	})
	if n := strings.Count(seen.String(), "[WARN]"); n != 1 ||
		!strings.Contains(seen.String(), "trial 0: lines are dropped, since it prints more than 1 MiB a second") {
		t.Errorf("%d warnings, want one", n)
	}
	// A line has some bytes more in the log.
	if n, allowed := len(seen.String()), (3+int(time.Since(began).Seconds()))<<20*11/10; n > allowed {
		t.Errorf("%d bytes were written, %d are allowed", n, allowed)
	}
	p.say <- []train.Event{{Kind: train.Ended, Run: 1}}
	heardOf(t, x)
}

// B-009: a process that does not wait for answers fails its trial; what it may report
// counts, and that is more once it was told to stop.
func TestRunsTooFarAhead(t *testing.T) {
	for _, c := range []struct {
		credits, taken int
		stop           bool
	}{{0, 1, false}, {4, 5, false}, {4, 5 + life.MaxFinal, true}} {
		x, p := trains(t, clock.System{})
		x.Put(Work{Action: core.ContinueAttempt{Trial: 0, Attempt: 1, Credits: uint32(c.credits)}})
		if c.stop {
			x.Put(Work{Action: core.StopAttempt{Trial: 0, Attempt: 1}})
		}
		x.Flush()
		testplace.Soon(t, "the word", func() bool {
			return (c.credits == 0 || p.told(train.Continue)) &&
				p.told(train.Stop) == c.stop
		})
		for range c.taken + 5 {
			p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score", Value: 1}}}}
		}
		p.say <- []train.Event{{Kind: train.Ended, Run: 1}}
		list, end := heardOf(t, x)
		contains(t, end.Cause.String(), "where it must wait for an answer after")
		if len(list) != c.taken+1 {
			t.Errorf("%d results are taken, want %d", len(list)-1, c.taken)
		}
	}
}

// An experiment has so many metrics at most; each is kept for its life.
func TestEndlessMetricNames(t *testing.T) {
	x := New(Options{})
	var err error
	n := 0
	for ; err == nil && n < 2*maxMetricNames; n++ {
		err = x.nameAll([]sdk.Metric{{Name: "score"}, {Name: fmt.Sprint("m", n)}})
	}
	if err == nil || n != maxMetricNames || len(x.names) != maxMetricNames {
		t.Fatalf("%d results, %d names: %v", n, len(x.names), err)
	}
	contains(t, err.Error(), "is one more than the 20000 different ones that an experiment may have")
	if err := x.nameAll([]sdk.Metric{{Name: "score"}}); err != nil {
		t.Error(err)
	}
}
