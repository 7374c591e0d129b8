package attempt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// places are the processes that were started, each at its place.
type places struct {
	mu        sync.Mutex
	processes []*scripted
	at        []exec.Place
	refuse    int // how many starts fail because the node is cut off
}

func (p *places) open(_ context.Context, at exec.Place) (plugin.Trainer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse > 0 {
		p.refuse--
		return nil, &plugin.Error{Failure: plugin.Unreachable}
	}
	s := newScripted()
	p.processes, p.at = append(p.processes, s), append(p.at, at)
	return s, nil
}

// process is the nth that was started, once it is told to start a run for the count-th time.
func (p *places) process(t *testing.T, n, count int) (s *scripted, at exec.Place) {
	t.Helper()
	testplace.Soon(t, fmt.Sprintf("start %d in process %d", count, n), func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.processes) <= n {
			return false
		}
		s, at = p.processes[n], p.at[n]
		return s.count(train.Start) == count
	})
	return s, at
}

// startOn begins a trial on a lease, or on a node.
func startOn(x *Driver, no core.TrialNo, lease core.LeaseID, node string, devices ...string) {
	dir := x.Storage.Trial(fmt.Sprint(no))
	x.Put(Work{Action: core.StartAttempt{Trial: no, Attempt: 1, Lease: lease}, Dir: dir, Params: []byte(`{}`),
		Trial: &sdk.Trial{Dir: dir, Params: []byte(`{}`), Resources: []byte(`{"cpu":1}`), Devices: devices,
			Bundles: []sdk.Bundle{{Node: node, Devices: devices}}}})
	x.Flush()
}

// well ends the newest run of a process.
func well(t *testing.T, x *Driver, p *scripted) {
	t.Helper()
	run := p.last(train.Start).Run
	p.say <- []train.Event{{Kind: train.Started, Run: run}, {Kind: train.Ended, Run: run}}
	if _, end := heardOf(t, x); end.Cause.Kind != core.CauseNone {
		t.Fatal(end.Cause)
	}
}

func placed(t *testing.T) (*Driver, *places) {
	t.Helper()
	p := &places{}
	x, _ := driver(t, clock.System{}, func(o *Options) {
		o.Open, o.Shared, o.Reuse, o.GPUs = p.open, false, true, true
	})
	first, _ := p.process(t, 0, 1)
	first.say <- []train.Event{{Kind: train.Ended, Run: 1, Error: "it is not kept"}}
	heardOf(t, x)
	return x, p
}

// B-110: a process is kept for the next trial at its place: of the same lease, or of the same
// devices of the same node.
func TestProcessesKeepTheirPlace(t *testing.T) {
	x, started := placed(t)
	startOn(x, 1, 0, "n1", "0")
	p, at := started.process(t, 1, 1)
	if at.Node != "n1" || at.Lease != 0 || len(at.Devices) != 1 {
		t.Errorf("it is started at %+v", at)
	}
	well(t, x, p)
	startOn(x, 2, 0, "n1", "0")
	started.process(t, 1, 2)
	well(t, x, p)
	startOn(x, 3, 0, "n2", "0") // the id says nothing on another node
	p, _ = started.process(t, 2, 1)
	well(t, x, p)

	startOn(x, 4, 7, "n2", "0")
	p, at = started.process(t, 3, 1)
	if at.Lease != 7 {
		t.Errorf("it is started at %+v", at)
	}
	well(t, x, p)
	startOn(x, 5, 8, "n2", "1") // a lease of its own: the one before stays warm
	other, _ := started.process(t, 4, 1)
	well(t, x, other)
	startOn(x, 6, 7, "n2", "0")
	started.process(t, 3, 2)
	well(t, x, p)
	x.Put(Work{Action: core.ReleaseLease{Lease: 7}})
	x.Flush()
	<-p.killed // it was closed
}

// What runs on a lease that is lost is killed at once. The trial's next attempt begins when it is
// gone, since both have the trial's directory; other trials continue.
func TestLostLease(t *testing.T) {
	x, started := placed(t)
	startOn(x, 1, 7, "n1")
	p, _ := started.process(t, 1, 1)
	x.Put(Work{Action: core.StopAttempt{Trial: 1, Attempt: 1, Paused: true}})
	x.Put(Work{Action: core.KillAttempt{Trial: 1, Attempt: 1}})
	dir := x.Storage.Trial("1")
	x.Put(Work{Action: core.StartAttempt{Trial: 1, Attempt: 2, Lease: 8}, Dir: dir, Params: []byte(`{}`),
		Trial: &sdk.Trial{Dir: dir, Params: []byte(`{}`), Bundles: []sdk.Bundle{{Node: "n2"}}}})
	startOn(x, 2, 9, "n1")
	other, at := started.process(t, 2, 1)
	if at.Lease != 9 {
		t.Fatalf("the next attempt is started at %+v while the last one is there", at)
	}
	if !p.told(train.Kill) {
		t.Error("it was not killed")
	}
	p.say <- []train.Event{{Kind: train.Ended, Run: p.last(train.Start).Run}}
	if _, end := heardOf(t, x); end.Trial != 1 || end.Attempt != 1 || end.Cause.Kind != core.CauseNone {
		t.Errorf("%+v", end)
	}
	if _, at := started.process(t, 3, 1); at.Lease != 8 {
		t.Errorf("its next attempt is started at %+v", at)
	}
	well(t, x, other)
}

// apart is a driver whose leases are on machines of their own, where trials share a process.
func apart(t *testing.T) (*Driver, *places) { return apartBy(t, clock.System{}) }

func apartBy(t *testing.T, c clock.Clock, more ...func(*Options)) (*Driver, *places) {
	t.Helper()
	p := &places{}
	x, _ := driver(t, c, func(o *Options) {
		o.Open, o.Shared, o.Apart = p.open, true, true
		for _, f := range more {
			f(o)
		}
	})
	first, _ := p.process(t, 0, 1)
	first.say <- []train.Event{{Kind: train.Ended, Run: 1, Error: "it is not kept"}}
	heardOf(t, x)
	return x, p
}

// Trials that share a process share it only on one machine; it ends with the lease.
func TestSharedOnEachLease(t *testing.T) {
	x, p := apart(t)
	startOn(x, 1, 7, "n1")
	seven, at := p.process(t, 1, 1)
	if at.Lease != 7 {
		t.Fatalf("%+v", at)
	}
	startOn(x, 2, 8, "n1")
	eight, _ := p.process(t, 2, 1)
	well(t, x, seven)
	startOn(x, 3, 7, "n1")
	p.process(t, 1, 2) // the same process
	well(t, x, seven)
	x.Put(Work{Action: core.ReleaseLease{Lease: 7}})
	x.Flush()
	<-seven.killed
	well(t, x, eight)
	startOn(x, 4, 8, "n1")
	p.process(t, 2, 2)
}

// A trial whose node is cut off is interrupted, which is no failure.
func TestCutOff(t *testing.T) {
	x, p := apart(t)
	startOn(x, 1, 7, "n1")
	lost, _ := p.process(t, 1, 1)
	lost.fail(&plugin.Error{Failure: plugin.Unreachable})
	if _, end := heardOf(t, x); !end.Interrupted || end.Cause.Kind != core.CauseNone {
		t.Errorf("%+v", end)
	}
}

// heldClock calls functions that wait for news of leases only when the test does.
type heldClock struct {
	clock.System
	held chan func()
}

func (c heldClock) AfterFunc(d time.Duration, f func()) func() bool {
	if d != leaseEventsWithin {
		return c.System.AfterFunc(d, f)
	}
	c.held <- f
	return func() bool { return false }
}

// B-075: a failure on another machine is told only after the news of its lease, which an engine may have taken away
// with all processes on it.
func TestFailureWaitsForNews(t *testing.T) {
	c := heldClock{held: make(chan func(), 1)}
	x, p := apartBy(t, c)
	startOn(x, 1, 7, "n1")
	killed, _ := p.process(t, 1, 1)
	killed.fail(errors.New("ended by signal 15"))
	var later func()
	select {
	case later = <-c.held:
	case <-time.After(time.Minute):
		t.Fatal("the failure does not wait")
	}
	for _, n := range x.Inbox.Take(nil) {
		if e, ok := n.Event.(*core.AttemptEnded); ok {
			t.Errorf("it was told at once: %+v", e)
		}
	}
	later()
	if _, end := heardOf(t, x); end.Cause.Kind != core.CauseTrainable {
		t.Errorf("%+v", end)
	}
}

// B-132: programs that an engine's signal ends before the host hears of the lease's end have not failed. The end is
// told at once then, and once.
func TestLeaseEndsAfterTheFailure(t *testing.T) {
	c := heldClock{held: make(chan func(), 1)}
	x, p := apartBy(t, c)
	startOn(x, 1, 7, "n1")
	killed, _ := p.process(t, 1, 1)
	run := killed.last(train.Start).Run
	killed.say <- []train.Event{{Kind: train.Started, Run: run},
		{Kind: train.Ended, Run: run, Error: "sh (rank 1) was killed by signal 15 (terminated)"}}
	later := <-c.held
	x.Put(Work{Action: core.StopAttempt{Trial: 1, Attempt: 1, SaveID: 3, Paused: true}, Dir: x.Storage.Trial("1")})
	x.Flush()
	heard, end := heardOf(t, x)
	if end.Trial != 1 || end.Cause.Kind != core.CauseNone {
		t.Errorf("%+v", end)
	}
	failed := func(list []inbox.Item) bool {
		return slices.ContainsFunc(list, func(n inbox.Item) bool {
			_, ok := n.Event.(*core.SaveFailed)
			return ok
		})
	}
	if !failed(heard) {
		testplace.Soon(t, "no checkpoint", func() bool { return failed(x.Inbox.Take(nil)) })
	}
	later()
	if list := x.Inbox.Take(nil); len(list) > 0 {
		t.Errorf("more was told: %+v", list)
	}
}

// slowOutput are checkpoints at a place whose output takes long, once slow is set.
type slowOutput struct {
	Checkpoints
	slow            atomic.Bool
	begun, complete chan struct{}
}

func (s *slowOutput) Leave(exec.Place, *sdk.Trial) {
	if s.slow.Load() {
		close(s.begun)
		<-s.complete
	}
}

// The lease of a trial that has ended may be given back at once, and its node with it: the end is told when the
// trial's output has come.
func TestOutputComesBeforeTheEnd(t *testing.T) {
	files := &slowOutput{begun: make(chan struct{}), complete: make(chan struct{})}
	x, p := apartBy(t, clock.System{}, func(o *Options) {
		files.Checkpoints, o.Checkpoints = SharedFiles{Storage: o.Storage}, files
	})
	files.slow.Store(true)
	startOn(x, 1, 7, "n1")
	process, _ := p.process(t, 1, 1)
	run := process.last(train.Start).Run
	process.say <- []train.Event{{Kind: train.Started, Run: run}, {Kind: train.Ended, Run: run}}
	<-files.begun
	x.mu.Lock() // whatever told of the end has done so
	for _, n := range x.Inbox.Take(nil) {
		if e, ok := n.Event.(*core.AttemptEnded); ok {
			t.Errorf("it was told before its output was complete: %+v", e)
		}
	}
	x.mu.Unlock()
	close(files.complete)
	if _, end := heardOf(t, x); end.Trial != 1 || end.Cause.Kind != core.CauseNone {
		t.Errorf("%+v", end)
	}
}

// takes are checkpoints that are on a machine, from which they are taken.
type takes struct {
	Checkpoints
	from chan Item
}

func (s takes) Take(x Item, _ string, _ bool) (bool, error) {
	s.from <- x
	return true, nil
}

// A program on another machine may end before what it saved last is taken: it is taken from there all the
// same.
func TestTakenAfterTheEnd(t *testing.T) {
	files := takes{from: make(chan Item, 1)}
	x, p := apartBy(t, clock.System{}, func(o *Options) {
		files.Checkpoints = SharedFiles{Storage: o.Storage}
		o.Checkpoints = files
	})
	startOn(x, 1, 7, "n1")
	process, _ := p.process(t, 1, 1)
	well(t, x, process)
	x.Put(Work{Action: core.TakeCheckpoint{Trial: 1, Attempt: 1, ID: 1, Iteration: 3, Path: "/node/last"},
		Dir: x.Storage.Trial("1")})
	x.Flush()
	if got := <-files.from; got.Place.Lease != 7 || got.Place.Node != "n1" {
		t.Errorf("it is taken from %+v", got.Place)
	}
	x.Put(Work{Action: core.ReleaseLease{Lease: 7}})
	x.Flush()
	testplace.Soon(t, "the end of the lease", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.departed) == 0
	})
}

// broken are checkpoints on a machine that is not reached any more.
type broken struct{ Checkpoints }

func (broken) Take(Item, string, bool) (bool, error) { return true, errors.New("the agent is lost") }

func (broken) Stage(_ Item, quick bool) (string, bool, error) {
	if quick {
		return "", false, nil
	}
	return "", false, errors.New("the agent is lost")
}

// B-075: what cannot be saved on another machine is told only after the news of its lease, which may be lost.
func TestUnsavedWaitsForNews(t *testing.T) {
	for _, action := range []core.Action{core.TakeCheckpoint{Trial: 1, Attempt: 1, ID: 1, Path: "/node/last"},
		core.SaveAttempt{Trial: 1, Attempt: 1, ID: 1}} {
		unsavedWaits(t, action)
	}
}

func unsavedWaits(t *testing.T, action core.Action) {
	t.Helper()
	c := heldClock{held: make(chan func(), 1)}
	x, p := apartBy(t, c, func(o *Options) { o.Checkpoints = broken{SharedFiles{Storage: o.Storage}} })
	startOn(x, 1, 7, "n1")
	p.process(t, 1, 1)
	x.Put(Work{Action: action, Dir: x.Storage.Trial("1")})
	x.Flush()
	var later func()
	select {
	case later = <-c.held:
	case <-time.After(time.Minute):
		t.Fatalf("%T does not wait", action)
	}
	failed := func() bool {
		return slices.ContainsFunc(x.Inbox.Take(nil), func(n inbox.Item) bool {
			_, ok := n.Event.(*core.SaveFailed)
			return ok
		})
	}
	if failed() {
		t.Errorf("%T was told at once", action)
	}
	later()
	testplace.Soon(t, "the failure", failed)
}

// A process whose node is cut off while it starts is started again.
func TestCutOffAtTheStart(t *testing.T) {
	x, p := apart(t)
	p.refuse = 2
	startOn(x, 1, 7, "n1")
	back, _ := p.process(t, 1, 1)
	well(t, x, back)
	if p.refuse != 0 {
		t.Error("it was not tried again")
	}
}
