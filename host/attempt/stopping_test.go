package attempt

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// B-070, B-023: one that makes invalid reports is told to stop, then killed; one that
// shares its process with others is given a last moment, and then the process is
// killed all the same. Nothing that it says meanwhile is heard.
func TestInvalidReportIsStopped(t *testing.T) {
	x, p := trains(t, clocktest.New(50))
	bad := train.Event{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: ""}}}
	good := train.Event{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score", Value: 1}}}
	p.say <- []train.Event{good, bad, good, {Kind: train.Log, Run: 1, Text: "hello"}}
	testplace.Soon(t, "the order to stop", func() bool { return p.told(train.Stop) })
	testplace.Soon(t, "the order to die", func() bool { return p.told(train.Kill) })
	list, end := heardOf(t, x)
	if !strings.Contains(end.Cause.String(), "it reported nonsense: a metric has no name") || len(list) != 2 {
		t.Errorf("%d pieces of news, the end is %+v", len(list), end)
	}
	select {
	case <-p.killed:
	default:
		t.Error("its process lives")
	}
}

// B-023, B-070: a trial that ignores the word to stop is gone when its grace is over, with the
// process that it shares. Others in that process are interrupted, which is no failure of theirs.
// Only a process that kills its trials' programs by itself is given time to say that it has.
func TestSharedProcessIsKilled(t *testing.T) {
	for _, programs := range []bool{false, true} {
		now := &later{}
		said := &testplace.Screen{}
		x, p := trains(t, now, func(o *Options) {
			o.Programs, o.Log = programs, hostlog.Open(io.Discard, hostlog.NewScreen(said, ""))
		})
		dir := x.Storage.Trial("1")
		x.Put(Work{Action: core.StartAttempt{Trial: 1, Attempt: 1}, Trial: &sdk.Trial{Dir: dir, Params: []byte(`{}`)},
			Dir: dir, Params: []byte(`{}`)})
		x.Put(Work{Action: core.StopAttempt{Trial: 1, Attempt: 1}})
		x.Flush()
		testplace.Soon(t, "the grace", func() bool { return now.set() == 1 })
		now.pass() // the grace
		now.pass() // the moment after it
		if now.waited() != time.Second+killGrace && !programs {
			t.Errorf("it has %v", now.waited())
		}
		select {
		case <-p.killed:
			if programs {
				t.Fatal("the process is killed, which may have killed its program by now")
			}
		default:
			if !programs {
				t.Fatal("the process lives")
			}
			now.pass()
		}
		ends := map[core.TrialNo]*core.AttemptEnded{}
		testplace.Soon(t, "their ends", func() bool {
			for _, n := range x.Inbox.Take(nil) {
				if e, ok := n.Event.(*core.AttemptEnded); ok {
					ends[e.Trial] = e
				}
			}
			return len(ends) == 2
		})
		if !ends[0].Interrupted || ends[0].Cause.Kind != core.CauseNone || ends[1].Interrupted {
			t.Errorf("they end as %+v and %+v", ends[0], ends[1])
		}
		contains(t, said.String(), "trial 1 did not end within stop_grace (1s): its process is killed, and with it 1 "+
			"other trials")
	}
}

// B-073: one that has no time for its grace is killed at once, after it was told to stop.
func TestKilledWithoutGrace(t *testing.T) {
	x, p := trains(t, clock.System{}, func(o *Options) { o.Grace, o.Shared = time.Hour, false })
	dir := x.Storage.Trial("0")
	x.Put(Work{Action: core.StopAttempt{Trial: 0, Attempt: 1}, Dir: dir})
	x.Put(Work{Action: core.KillAttempt{Trial: 0, Attempt: 1}, Dir: dir})
	x.Flush()
	testplace.Soon(t, "the order to die", func() bool { return p.told(train.Kill) })
	if !p.told(train.Stop) {
		t.Error("it was not told to stop")
	}
	heardOf(t, x)
}

// B-087: the user hears of a trial that waits for room, once, at every verbosity; other words of trials not on a quiet
// screen.
func TestTrialWaitsForRoom(t *testing.T) {
	said := &testplace.Screen{}
	screen := hostlog.NewScreen(said, "")
	screen.Quiet()
	x, p := trains(t, &later{}, func(o *Options) { o.Log = hostlog.Open(io.Discard, screen) })
	full := train.Event{Kind: train.Log, Run: 1, Text: "no space left on device: it waits", Hint: true}
	p.say <- []train.Event{{Kind: train.Started, Run: 1}, {Kind: train.Log, Run: 1, Text: "it has begun", Hint: true},
		full, full, {Kind: train.Ended, Run: 1}}
	heardOf(t, x)
	if text := said.String(); text != "warning: trial 0: no space left on device: it waits\n" {
		t.Errorf("%q", text)
	}
}

// B-150: the user is told of a program whose grace was over before it had cleaned up, once, and
// also where its trainable says so too. One that is killed without its grace is no news.
func TestOutstayedProgram(t *testing.T) {
	now, said := &later{}, &testplace.Screen{}
	x, p := trains(t, now, func(o *Options) {
		o.Programs, o.Log = true, hostlog.Open(io.Discard, hostlog.NewScreen(said, ""))
	})
	p.say <- []train.Event{{Kind: train.Started, Run: 1}, {Kind: train.Log, Run: 1, Text: "it has begun", Hint: true}}
	testplace.Soon(t, "its beginning", func() bool { return strings.Contains(said.String(), "trial 0: it has begun") })
	x.Put(Work{Action: core.StopAttempt{Trial: 0, Attempt: 1}, Dir: x.Storage.Trial("0")})
	x.Flush()
	testplace.Soon(t, "the grace", func() bool { return now.set() == 1 })
	now.pass()
	const text = "trial 0 did not end within stop_grace (1s) of its stop and was killed: what it saves at its end " +
		"may be missing"
	p.say <- []train.Event{{Kind: train.Log, Run: 1, Text: text, Hint: true}, {Kind: train.Ended, Run: 1}}
	if _, end := heardOf(t, x); end.Cause.Kind != core.CauseNone {
		t.Error(end.Cause)
	}
	if strings.Count(said.String(), "did not end") != 1 || !strings.Contains(said.String(), "warning: "+text) {
		t.Error(said.String())
	}
}
