package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/stoprules"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// narrow is a record that refuses what the journal refuses.
type narrow struct {
	t     *testing.T
	calls int
	count int
}

func (n *narrow) Append(records [][]byte) (uint64, error) {
	n.calls++
	bytes := 0
	for _, b := range records {
		bytes += len(b) + 16
	}
	if len(records) > journal.MaxFrameRecords || bytes > journal.MaxFrameBytes {
		n.t.Errorf("%d records of %d bytes at a time", len(records), bytes)
	}
	n.count += len(records)
	return 1, nil
}

func (*narrow) Sync() error  { return nil }
func (*narrow) Close() error { return nil }

// The largest allowed results, many at a time, fit the record, even if each metric is new.
func TestLargeResultsAtATime(t *testing.T) {
	rec := &narrow{t: t}
	l, _ := engineOn(Ports{Clock: clock.System{}, Recorder: rec})
	start := []inbox.Item{{Event: &core.ExperimentStarted{Spec: core.Spec{Trials: 1}}}, {Event: &core.HostStarted{}}}
	if err := l.stepAll(start); err != nil {
		t.Fatal(err)
	}
	var batch []inbox.Item
	for i := range 90 {
		r := &inbox.Result{}
		for j := range sdk.MaxMetrics {
			r.Metrics = append(r.Metrics, sdk.Metric{Name: fmt.Sprint("m", min(i, 8), "_", j), Value: 1})
		}
		batch = append(batch, inbox.Item{Result: r})
	}
	if err := l.stepAll(batch); err != nil {
		t.Fatal(err)
	}
	if want := 2 + 90 + 9*sdk.MaxMetrics; rec.count != want || rec.calls < 3 {
		t.Errorf("%d records in %d appends, want %d", rec.count, rec.calls, want)
	}
}

// full is a recorder without room for anything while it is full.
type full struct {
	narrow
	full bool
}

func (f *full) Append(records [][]byte) (uint64, error) {
	if f.full {
		return 0, journal.ErrNoSpace
	}
	return f.narrow.Append(records)
}

// What somebody has given up who waited for it is not recorded later, and what has no room on a full disk is refused
// and not recorded when there is room.
func TestClaims(t *testing.T) {
	rec := &full{narrow: narrow{t: t}}
	l, _ := engineOn(Ports{Clock: clock.System{}, Recorder: rec})
	start := []inbox.Item{{Event: &core.ExperimentStarted{Spec: core.Spec{Trials: 1}}}, {Event: &core.HostStarted{}}}
	if err := l.stepAll(start); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		open, full bool
		want       error
		recorded   int
	}{
		{open: true, recorded: 1}, {open: false, want: inbox.ErrGivenUp},
		{open: true, full: true, want: journal.ErrNoSpace},
		{open: true, recorded: 1},
	} {
		before, trials := rec.count, l.machine.Trials()
		rec.full = x.full
		var refused error
		claim := &inbox.Claim{Open: func() bool { return x.open }, Refused: func(err error) { refused = err }}
		if err := l.stepAll([]inbox.Item{{Event: &core.TrialGiven{Extra: true}, Claim: claim}}); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(refused, x.want) || rec.count-before != x.recorded || l.machine.Trials()-trials != x.recorded {
			t.Errorf("%+v: %v, %d records, %d trials", x, refused, rec.count-before, l.machine.Trials()-trials)
		}
	}
}

// A claim is looked at when it is its turn: a part of a batch of its own.
func TestClaimsAreTheirOwnPart(t *testing.T) {
	plain := inbox.Item{Event: &core.TrialGiven{}}
	claimed := inbox.Item{Event: plain.Event, Claim: &inbox.Claim{}}
	for _, x := range []struct {
		batch []inbox.Item
		want  int
	}{
		{[]inbox.Item{plain, plain, claimed}, 2}, {[]inbox.Item{claimed, plain}, 1},
		{[]inbox.Item{claimed, claimed}, 1},
		{[]inbox.Item{claimed}, 1}, {[]inbox.Item{plain, {Query: func(*core.Machine) {}}}, 1},
	} {
		if got := untilOther(x.batch); len(got) != x.want {
			t.Errorf("%+v: %d, want %d", x.batch, len(got), x.want)
		}
	}
}

// slowly delays each action.
type slowly struct{ clock *clocktest.Warp }

func (s slowly) Doing(core.Action) { s.clock.Jump(3 * time.Second) }
func (slowly) Applied(core.Event)  {}

// B-126: a step of the loop that takes too long is named with its time, once.
func TestSlowStepsAreNamedOnce(t *testing.T) {
	clock := clocktest.New(1)
	l, seen := engineOn(Ports{Clock: clock, Recorder: &narrow{t: t}, Listeners: []Listener{slowly{clock}}})
	for _, e := range []core.Event{&core.ExperimentStarted{Spec: core.Spec{Trials: 1}}, &core.HostStarted{},
		&core.TrialGiven{}, &core.TrialGiven{}} {
		if err := l.stepAll([]inbox.Item{{Event: e}}); err != nil {
			t.Fatal(err)
		}
	}
	if text := seen.String(); strings.Count(text, "a step of the host") != 1 || !strings.Contains(text, "took 6s") {
		t.Errorf("it is not said once, with its time:\n%s", text)
	}
}

// engineOn returns an engine whose other ports do nothing, and its log.
func engineOn(p Ports) (*Engine, *bytes.Buffer) {
	seen := &bytes.Buffer{}
	p.Searcher, p.Scheduler, p.Publisher, p.Store, p.Timer = idle{}, idle{}, idle{}, idle{}, idle{}
	if p.Executor == nil {
		p.Executor = idleExecutor{}
	}
	if p.Granter == nil {
		p.Granter = NoGranter{}
	}
	return New(Options{Ports: p, History: history.New(), Inbox: inbox.New(), Rules: stoprules.New(&config.Experiment{}),
		Log: hostlog.New(hclog.New(&hclog.LoggerOptions{Output: seen}))}), seen
}

// idle carries out nothing.
type idle struct{}

func (idle) Tell(core.Observation)        {}
func (idle) Hear(*history.Step)           {}
func (idle) Ask(core.AskSearcher)         {}
func (idle) Warn(core.Warn)               {}
func (idle) Delete(core.DeleteCheckpoint) {}
func (idle) Set(int64)                    {}
func (idle) Flush()                       {}

type idleExecutor struct{ idle }

func (idleExecutor) Do(core.Action) {}

// askedFor records the calls of a granter.
type askedFor struct {
	actions []core.Action
	flushed int
}

func (a *askedFor) Do(x core.Action) { a.actions = append(a.actions, x) }
func (a *askedFor) Flush()           { a.flushed++ }

// The core's requests to an engine go to the granter, and are flushed with the step.
func TestLeasesGoToTheGranter(t *testing.T) {
	var asked, told askedFor
	l, _ := engineOn(Ports{Clock: clock.System{}, Recorder: &narrow{t: t}, Granter: &asked, Executor: &told})
	for _, e := range []core.Event{&core.ExperimentStarted{Spec: core.Spec{Trials: 1, Leases: &core.Leases{}}},
		&core.HostStarted{}, &core.LeaseGranted{Lease: 7}} {
		if err := l.stepAll([]inbox.Item{{Event: e}}); err != nil {
			t.Fatal(err)
		}
	}
	late := core.Action(core.ReleaseLease{Lease: 7})
	if n := len(asked.actions); n == 0 || asked.actions[n-1] != late || asked.flushed != 3 {
		t.Errorf("%+v, flushed %d times", asked.actions, asked.flushed)
	}
	if !slices.Equal(told.actions, []core.Action{late}) {
		t.Errorf("the executor is told %+v, want what is released", told.actions)
	}
}

// B-008: one warning, after a minute in which there was always more to do.
func TestLagIsToldOnce(t *testing.T) {
	clock := clocktest.New(1)
	var l lag
	seen := &bytes.Buffer{}
	log := hostlog.New(hclog.New(&hclog.LoggerOptions{Output: seen}))
	told := func() int { return strings.Count(seen.String(), "report less often") }
	l.watch(lagEvents, clock, log)
	clock.Jump(30 * time.Second)
	l.watch(lagEvents, clock, log)
	if told() != 0 {
		t.Errorf("warned before the minute was over:\n%s", seen)
	}
	for range 3 {
		clock.Jump(time.Minute)
		l.watch(lagEvents, clock, log)
	}
	if told() != 1 {
		t.Errorf("warned %d times, want once:\n%s", told(), seen)
	}
}

// B-008: a moment without work starts the minute again.
func TestNoLagAfterABreath(t *testing.T) {
	clock := clocktest.New(1)
	var l lag
	seen := &bytes.Buffer{}
	log := hostlog.New(hclog.New(&hclog.LoggerOptions{Output: seen}))
	for range 10 {
		l.watch(lagEvents, clock, log)
		clock.Jump(20 * time.Second)
		l.watch(1, clock, log)
		clock.Jump(20 * time.Second)
	}
	if seen.String() != "" {
		t.Errorf("warned:\n%s", seen)
	}
}
