package consult

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/consult/snapshots"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// recordingPlugin is a searcher and a scheduler that keep what they are told.
type recordingPlugin struct {
	calls []int // how many events each call told
	told  []uint64
	asked int
	fails error
}

func (p *recordingPlugin) tell(events []sdk.Event) error {
	p.calls = append(p.calls, len(events))
	for _, e := range events {
		p.told = append(p.told, e.Number)
	}
	return p.fails
}

func (p *recordingPlugin) Observe(_ context.Context, events []sdk.Event) error { return p.tell(events) }

func (p *recordingPlugin) Suggest(_ context.Context, requests []sdk.Request) (a sdk.Suggestions, _ error) {
	p.asked += len(requests)
	for range requests {
		a.Points = append(a.Points, space.Point{})
	}
	return a, nil
}

func (p *recordingPlugin) Decide(_ context.Context, events []sdk.Event) (d sdk.Decisions, _ error) {
	for _, e := range events {
		d.Decisions = append(d.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Continue})
	}
	return d, p.tell(events)
}

func (p *recordingPlugin) Traits() sdk.Traits                       { return sdk.Traits{} }
func (p *recordingPlugin) Snapshots() bool                          { return false }
func (p *recordingPlugin) Snapshot(context.Context) ([]byte, error) { return nil, nil }
func (p *recordingPlugin) Close() error                             { return nil }

func options() Options {
	return Options{Name: "p", Inbox: inbox.New(), Log: hostlog.New(hclog.NewNullLogger()), Clock: clock.System{},
		Slow: time.Hour, Snapshots: &snapshots.Snapshots{}}
}

const many = 2500

// upTo returns the numbers 1 to n.
func upTo(n uint64) (list []uint64) {
	for i := uint64(1); i <= n; i++ {
		list = append(list, i)
	}
	return list
}

// All waiting events are decided on, in order, and no answer is larger than one record may be.
func TestAllIsDecided(t *testing.T) {
	o, p := options(), &recordingPlugin{}
	s := NewScheduling(ScheduleOptions{Options: o, Scheduler: p})
	for i := uint64(1); i <= many; i++ {
		s.Put(ScheduleWork{Event: sdk.Event{Number: i, Kind: sdk.ResultReported}, Due: true})
	}
	if busy, err := s.Turn(t.Context()); !busy || err != nil {
		t.Fatal(busy, err)
	}
	var decided []uint64
	for _, n := range o.Inbox.Take(nil) {
		e := n.Event.(*core.SchedulerDecided)
		for _, d := range e.Decisions {
			decided = append(decided, d.Number)
		}
		if last := decided[len(decided)-1]; e.Through != last {
			t.Errorf("it answers through %d, and its last decision is on %d", e.Through, last)
		}
	}
	if all := upTo(many); !slices.Equal(decided, all) || !slices.Equal(p.told, all) {
		t.Errorf("%d decided, %d told; want %d, in order", len(decided), len(p.told), many)
	}
	if slices.Max(p.calls) > maxDecided {
		t.Errorf("calls of %d events", p.calls)
	}
}

// mute is a scheduler that stops each trial, and gives no reason.
type mute struct{ recordingPlugin }

func (*mute) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, err error) {
	for _, e := range events {
		out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Stop})
	}
	return out, nil
}

// A scheduler that gives no reason is warned of, once.
func TestNoReasonIsWarnedOf(t *testing.T) {
	var log bytes.Buffer
	o := options()
	o.Log = hostlog.New(hclog.New(&hclog.LoggerOptions{Output: &log}))
	s := NewScheduling(ScheduleOptions{Options: o, Scheduler: &mute{}})
	for i := uint64(1); i <= 2; i++ {
		s.Put(ScheduleWork{Event: sdk.Event{Number: i, Kind: sdk.ResultReported}, Due: true})
		if _, err := s.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "scheduler p: it stops or pauses a trial without a reason"); n != 1 {
		t.Errorf("%d warnings: %s", n, log.String())
	}
}

// pausing returns an experiment whose only trial is paused by its scheduler, and the number of the last event.
func pausing(t *testing.T) (m *core.Machine, last uint64) {
	t.Helper()
	cpu, err := resource.NewBundle(resource.Item{Name: "cpu", Amount: resource.Whole(1)})
	if err != nil {
		t.Fatal(err)
	}
	one, err := resource.Plain(resource.Item{Name: "cpu", Amount: resource.Whole(1)})
	if err != nil {
		t.Fatal(err)
	}
	m = core.New()
	apply := func(e core.Event) {
		for _, a := range m.Apply(0, e) {
			if tell, ok := a.(*core.Tell); ok {
				last = tell.Observation.Number
			}
		}
	}
	for _, e := range []core.Event{
		&core.ExperimentStarted{Spec: core.Spec{Rules: core.NewestRules, Trials: 1, Request: one,
			Objectives: []core.Objective{{Metric: "score"}}}},
		&core.HostStarted{PID: 1, Host: "lab"},
		&core.NodeJoined{Node: resource.Node{ID: 1, Name: "lab", Capacity: cpu}},
		&core.SuggestionsReceived{Suggestions: []core.Suggestion{{Params: []byte("{}")}}},
		&core.AttemptStarted{Attempt: 1, PID: 2},
		&core.MetricNamed{ID: 1, Name: "score"},
		&core.ResultReported{Attempt: 1, Iteration: 1, Metrics: []core.Metric{{ID: 1, Value: 3}}},
	} {
		apply(e)
	}
	apply(&core.SchedulerDecided{Decisions: []core.Decision{{Number: last, Verdict: core.Pause}}, Through: last})
	apply(&core.AttemptEnded{Attempt: 1})
	return m, last
}

// An answer that the loop has not read yet may wake the paused trials: a question that was put before it does not end
// the experiment.
func TestStuckOnceAnswersAreRead(t *testing.T) {
	o := options()
	s := NewScheduling(ScheduleOptions{Options: o, Scheduler: &recordingPlugin{}})
	m, last := pausing(t)
	if !m.Stuck() {
		t.Fatal("the experiment is not stuck")
	}
	ends := func() (n int) {
		for _, x := range o.Inbox.Take(nil) {
			if x.Query != nil {
				x.Query(m)
			}
			if _, ok := x.Event.(*core.PluginFailed); ok {
				n++
			}
		}
		return n
	}
	s.Put(ScheduleWork{Event: sdk.Event{Number: last, Kind: sdk.TrialPaused}})
	s.CheckStuck()
	if _, err := s.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ends(); ends() != 0 {
		t.Error("the experiment ended before the answer was read")
	}
	s.CheckStuck()
	if ends(); ends() != 1 {
		t.Error("the experiment did not end")
	}
}

// A searcher that is not asked is told everything in time; before a question it is told all that
// happened before.
func TestSearcherReceivesAllEvents(t *testing.T) {
	o, p := options(), &recordingPlugin{}
	var indices []uint64
	suggestion := func(i uint64, _ space.Point) (core.Suggestion, error) {
		indices = append(indices, i)
		return core.Suggestion{Params: []byte("{}")}, nil
	}
	s := NewSearching(SearchOptions{Options: o, Searcher: p, Suggestion: suggestion,
		Requests: func(a core.AskSearcher) []sdk.Request { return make([]sdk.Request, a.Count) }})
	for i := uint64(1); i <= many; i++ {
		s.Put(SearchWork{Event: sdk.Event{Number: i}})
	}
	if _, err := s.Turn(t.Context()); err != nil || !slices.Equal(p.told, upTo(many/maxWaiting*maxWaiting)) {
		t.Fatalf("%d of %d told without a question: %v", len(p.told), many, err)
	}
	s.Put(SearchWork{Ask: &core.AskSearcher{Ask: 1, First: 7, Count: 2}})
	s.Put(SearchWork{Event: sdk.Event{Number: many + 1}})
	if _, err := s.Turn(t.Context()); err != nil || !slices.Equal(p.told, upTo(many)) || p.asked != 2 {
		t.Fatalf("%d told, %d asked: %v", len(p.told), p.asked, err)
	}
	if !slices.Equal(indices, []uint64{7, 8}) {
		t.Errorf("suggestions %d; want 7 and 8", indices)
	}
	items := o.Inbox.Take(nil)
	if e, ok := items[0].Event.(*core.SuggestionsReceived); len(items) != 1 || !ok || e.Ask != 1 ||
		len(e.Suggestions) != 2 {
		t.Errorf("posted %+v", items)
	}
}

// B-077: a plugin that has failed for good ends the experiment, once, and is not asked again.
func TestBeyondHelp(t *testing.T) {
	o, p := options(), &recordingPlugin{fails: errors.New("no more")}
	s := NewScheduling(ScheduleOptions{Options: o, Scheduler: p})
	for i := uint64(1); i <= many; i++ {
		s.Put(ScheduleWork{Event: sdk.Event{Number: i, Kind: sdk.ResultReported}, Due: true})
	}
	if _, err := s.Turn(t.Context()); err == nil || len(p.calls) != 1 {
		t.Errorf("%d calls: %v", len(p.calls), err)
	}
	items := o.Inbox.Take(nil)
	if e, ok := items[0].Event.(*core.PluginFailed); len(items) != 1 || !ok || !e.Cause.Is(core.CausePluginFailed) {
		t.Errorf("posted %+v", items)
	}
}

// What stops or pauses a trial has a reason in the record, also if the scheduler gave none.
func TestNoReason(t *testing.T) {
	answer := sdk.Decisions{
		Decisions: []sdk.Decision{{Event: 1, Verdict: sdk.Stop}, {Event: 2, Verdict: sdk.Pause, Reason: " "},
			{Event: 3, Verdict: sdk.Continue}, {Event: 4, Verdict: sdk.Stop, Reason: "slow"}},
		Commands: []sdk.Command{{Kind: sdk.StopTrial}, {Kind: sdk.StopAll}, {Kind: sdk.Resume}},
	}
	e, err := Decided(upTo(4), answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range e.Decisions {
		got = append(got, d.Reason)
	}
	for _, c := range e.Commands {
		got = append(got, c.Reason)
	}
	if want := []string{noReason, noReason, "", "slow", noReason, noReason, ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A command for a trial that the scheduler was not told of fails; the first of those that can have no effect is
// reported.
func TestCommandsThatDoNotFit(t *testing.T) {
	told := toldTrials{0}
	told.hear([]sdk.Event{{Kind: sdk.TrialAdded, Trial: 1}, {Kind: sdk.TrialStarted, Trial: 1},
		{Kind: sdk.TrialAdded, Trial: 2}, {Kind: sdk.TrialStarted, Trial: 2}, {Kind: sdk.TrialPaused, Trial: 2},
		{Kind: sdk.TrialAdded, Trial: 3}, {Kind: sdk.TrialRemoved, Trial: 3}, {Kind: sdk.TrialStarted, Trial: 4},
		{Kind: sdk.TrialStarted, Trial: 5}})
	told.pauses([]sdk.Event{{Number: 7, Trial: 1}, {Number: 8, Trial: 4}}, &sdk.Decisions{
		Decisions: []sdk.Decision{{Event: 7}, {Event: 8, Verdict: sdk.Pause}},
		Commands:  []sdk.Command{{Kind: sdk.Exploit, Trial: 5}}})
	for _, c := range []struct {
		command      sdk.Command
		fails, warns string
	}{
		{sdk.Command{Kind: sdk.Resume, Trial: 6}, "RESUME is for trial 6, which does not exist: there are trials 0 " +
			"to 5; command trials of its events", ""},
		{sdk.Command{Kind: sdk.StopAll, Trial: 4}, "", ""},
		{sdk.Command{Kind: sdk.StopTrial, Trial: 0}, "", ""},
		{sdk.Command{Kind: sdk.StopTrial, Trial: 2}, "", ""},
		{sdk.Command{Kind: sdk.StopTrial, Trial: 1}, "", "its command STOP_TRIAL for trial 1 has no effect: the " +
			"trial runs; a decision on its next result stops it; this is reported only once"},
		{sdk.Command{Kind: sdk.Resume, Trial: 1}, "", "its command RESUME for trial 1 has no effect: the trial runs: " +
			"it is not paused; this is reported only once"},
		{sdk.Command{Kind: sdk.Resize, Trial: 2}, "", "its command RESIZE for trial 2 has no effect: it names no " +
			"resources; this is reported only once"},
		{sdk.Command{Kind: sdk.Resume, Trial: 4}, "", ""},
		{sdk.Command{Kind: sdk.Resume, Trial: 5}, "", ""},
		{sdk.Command{Kind: sdk.Resume, Trial: 3}, "", "its command RESUME for trial 3 has no effect: the trial has " +
			"ended; this is reported only once"},
	} {
		var said string
		err := told.check([]sdk.Command{c.command}, core.RulesV7, func(_, text string) { said = text })
		if fmt.Sprint(err) != cmp.Or(c.fails, "<nil>") || said != c.warns {
			t.Errorf("%+v: %v, %q", c.command, err, said)
		}
	}
	stop := []sdk.Command{{Kind: sdk.StopTrial, Trial: 1}}
	if err := told.check(stop, core.RulesV8, func(_, text string) { t.Error(text) }); err != nil {
		t.Error(err)
	}
}

// Each command of an answer is carried out, in the order of the answer.
func TestEachCommandIsDecided(t *testing.T) {
	answer := sdk.Decisions{Commands: []sdk.Command{{Kind: sdk.Resume, Trial: 3}, {Kind: sdk.Resume, Trial: 1},
		{Kind: sdk.StopTrial, Trial: 2, Reason: "no better"}}}
	e, err := Decided(nil, answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	var trials []core.TrialNo
	for _, c := range e.Commands {
		trials = append(trials, c.Trial)
	}
	if !slices.Equal(trials, []core.TrialNo{3, 1, 2}) {
		t.Errorf("commands for trials %d", trials)
	}
}
