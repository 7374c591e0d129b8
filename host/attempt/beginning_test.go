package attempt

import (
	"context"
	"io"
	"os"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// B-070: a trainable that does not say that a trial has started is named, and its
// trial fails; its process is killed.
func TestNeverBegins(t *testing.T) {
	for _, shared := range []bool{true, false} {
		said := &testplace.Screen{}
		x, _ := trains(t, clocktest.New(100), func(o *Options) {
			o.Shared, o.Name, o.Begin, o.Log = shared, "sleepy", time.Minute, hostlog.Open(io.Discard,
				hostlog.NewScreen(said, ""))
		})
		_, end := heardOf(t, x)
		contains(t, end.Cause.String(),
			`trainable "sleepy" did not say within 1m that the trial had started (STARTED), and was killed`)
		contains(t, said.String(), `trainable "sleepy" has not said for 10s that trial 0 has started (STARTED); it `+
			`is given up after 1m (deadlines.begin)`)
	}
}

// One of several trials in a process does not take the others with it.
func TestNeverBeginsAmongOthers(t *testing.T) {
	x, p := trains(t, clocktest.New(1000), func(o *Options) { o.Begin = time.Minute })
	p.say <- []train.Event{{Kind: train.Started, Run: 1}}
	startAnother(x, 1)
	testplace.Soon(t, "the order to die", func() bool { return p.told(train.Kill) })
	_, end := heardOf(t, x)
	if end.Trial != 1 {
		t.Errorf("trial %d has ended: %s", end.Trial, end.Cause)
	}
	contains(t, end.Cause.String(), "did not say within 1m that the trial had started")
	select {
	case <-p.killed:
		t.Error("the process was killed, in which another trial runs")
	default:
	}
}

// A program that is held back is given the time, and its process is that of its later start.
func TestHeldBackProgram(t *testing.T) {
	now := &later{}
	x, p := trains(t, now, func(o *Options) { o.Begin, o.Programs = time.Minute, true })
	p.say <- []train.Event{{Kind: train.Started, Run: 1, Waiting: true}}
	testplace.Soon(t, "the wait", func() bool { return x.waits(0) })
	now.pass()
	p.say <- []train.Event{{Kind: train.Started, Run: 1, PID: 7}, {Kind: train.Ended, Run: 1}}
	list, end := heardOf(t, x)
	started, ok := list[0].Event.(*core.AttemptStarted)
	if !ok || started.PID != 7 || len(list) != 2 || end.Cause.Kind != core.CauseNone {
		t.Errorf("%+v, %s", list, end.Cause)
	}
}

// A process that must be reset has another limit than a process that all trials share: each
// of them has the time that the file allows.
func TestNeverBeginsInASharedProcess(t *testing.T) {
	x, p := trains(t, clocktest.New(1000), func(o *Options) { o.Begin = 10 * time.Minute })
	p.say <- []train.Event{{Kind: train.Started, Run: 1}}
	startAnother(x, 1)
	testplace.Soon(t, "the next start", func() bool { return p.count(train.Start) == 2 })
	p.say <- []train.Event{{Kind: train.Started, Run: 2}}
	startAnother(x, 2)
	_, end := heardOf(t, x)
	contains(t, end.Cause.String(), "did not say within 10m that the trial had started")
}

// B-024: a trial that is stopped while its process starts does not wait for that.
func TestStoppedWhileItStarts(t *testing.T) {
	opening := make(chan struct{})
	x, _ := driver(t, clock.System{}, func(o *Options) {
		o.Open = func(ctx context.Context, _ exec.Place) (plugin.Trainer, error) {
			close(opening)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	<-opening
	x.Put(Work{Action: core.StopAttempt{Trial: 0, Attempt: 1}, Dir: x.Storage.Trial("0")})
	x.Flush()
	if _, end := heardOf(t, x); end.Cause.Kind != core.CauseNone || end.NeverStarted {
		t.Errorf("it ends with %+v", end)
	}
}

// B-080: if no trial can have a directory, no trial fails: the host ends with an error.
func TestNoTrialCanHaveDirectory(t *testing.T) {
	failed := make(chan error, 1)
	x, _ := trains(t, clock.System{}, func(o *Options) { o.Fail = func(err error) { failed <- err } })
	if err := os.RemoveAll(x.Storage.Trials()); err != nil {
		t.Fatal(err)
	}
	startAnother(x, 1)
	testplace.Soon(t, "the end of the host", func() bool {
		for _, n := range x.Inbox.Take(nil) {
			if e, ok := n.Event.(*core.AttemptEnded); ok {
				t.Fatalf("trial %d failed: %s", e.Trial, e.Cause)
			}
		}
		return len(failed) > 0
	})
	contains(t, (<-failed).Error(), "no trial can be started, and everything is stopped: ")
}
