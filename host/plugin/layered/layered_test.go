package layered

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// script is a scheduler with a given answer to each event; it writes down what it receives.
type script struct {
	traits  sdk.Traits
	answers map[uint64]sdk.Decisions // by the event's number
	heard   []uint64
	state   []byte
}

func (s *script) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, err error) {
	for _, e := range events {
		s.heard = append(s.heard, e.Number)
		a := s.answers[e.Number]
		out.Decisions = append(out.Decisions, a.Decisions...)
		out.Commands = append(out.Commands, a.Commands...)
	}
	return out, nil
}

func (s *script) Traits() sdk.Traits                       { return s.traits }
func (s *script) Snapshots() bool                          { return s.state != nil }
func (s *script) Snapshot(context.Context) ([]byte, error) { return s.state, nil }
func (s *script) Close() error                             { return errors.New("closed") }

func result(number uint64, iteration uint64) sdk.Event {
	return sdk.Event{Number: number, Kind: sdk.ResultReported, Iteration: iteration}
}

func says(number uint64, v sdk.Verdict, until uint64, reason string) sdk.Decisions {
	return sdk.Decisions{Decisions: []sdk.Decision{{Event: number, Verdict: v, Until: until, Reason: reason}}}
}

func orders(kind sdk.CommandKind) sdk.Decisions {
	return sdk.Decisions{Commands: []sdk.Command{{Kind: kind, Reason: "ordered"}}}
}

func decide(t *testing.T, s *Scheduler, events ...sdk.Event) string {
	t.Helper()
	d, err := s.Decide(t.Context(), events)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(fmt.Sprint(d.Decisions, d.Commands))
}

// Each layer is asked from the iteration that it named on; the trial continues without asking until
// the first of these.
func TestEachIsAskedWhenItWants(t *testing.T) {
	a := &script{answers: map[uint64]sdk.Decisions{1: says(1, sdk.Continue, 9, ""), 4: says(4, sdk.Continue, 27, "")}}
	b := &script{answers: map[uint64]sdk.Decisions{1: says(1, sdk.Continue, 3, ""), 3: says(3, sdk.Continue, 12, "")}}
	quiet := &script{traits: sdk.Traits{Quiet: true}}
	s := New([]*Layer{{Scheduler: quiet}, {Scheduler: a}, {Scheduler: b}})
	for _, c := range []struct {
		e    sdk.Event
		want string
	}{
		{result(1, 1), "[{1 0 3 }] []"}, {result(3, 3), "[{3 0 9 }] []"}, {result(4, 9), "[{4 0 12 }] []"},
	} {
		if got := decide(t, s, c.e); got != c.want {
			t.Errorf("result %d: %s, want %s", c.e.Number, got, c.want)
		}
	}
	if got := fmt.Sprint(a.heard, b.heard, quiet.heard); got != "[1 4] [1 3] []" {
		t.Errorf("heard %s", got)
	}
}

// B-061: only a layer that has asked for it hears results again.
func TestWhoHearsAgain(t *testing.T) {
	once := &script{answers: map[uint64]sdk.Decisions{1: says(1, sdk.Continue, 4, "")}}
	again := &script{traits: sdk.Traits{Again: true}, answers: map[uint64]sdk.Decisions{2: says(2, sdk.Stop, 0, "bad")}}
	s := New([]*Layer{{Scheduler: once}, {Scheduler: again}})
	repeated := result(2, 4)
	repeated.Again = true
	for _, e := range []sdk.Event{result(1, 4), repeated} {
		decide(t, s, e)
	}
	if got := fmt.Sprint(once.heard, again.heard); got != "[1] [1 2]" {
		t.Errorf("heard %s", got)
	}
}

// B-010, B-018: of several verdicts the strongest counts, from any layer.
func TestStrongestVerdictCounts(t *testing.T) {
	a := &script{answers: map[uint64]sdk.Decisions{1: says(1, sdk.Pause, 0, "later"), 2: says(2, sdk.Stop, 0, "worse")}}
	b := &script{answers: map[uint64]sdk.Decisions{1: says(1, sdk.Stop, 0, "no better"),
		2: says(2, sdk.Continue, 5, "")}}
	s := New([]*Layer{{Scheduler: a}, {Scheduler: b, Stops: true}})
	got := decide(t, s, result(1, 1), sdk.Event{Number: 2, Kind: sdk.ResultReported, Trial: 1, Iteration: 1})
	if want := "[{1 2 0 no better} {2 2 0 worse}] []"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A trial that two layers paused continues when both have resumed it.
func TestPausedByTwo(t *testing.T) {
	a := &script{answers: map[uint64]sdk.Decisions{1: says(1, sdk.Pause, 0, "a"), 3: orders(sdk.Resume),
		5: says(5, sdk.Pause, 0, "a"), 7: orders(sdk.Resume)}}
	b := &script{answers: map[uint64]sdk.Decisions{1: says(1, sdk.Pause, 0, "b"), 4: orders(sdk.Resume),
		5: says(5, sdk.Pause, 0, "b")}}
	s := New([]*Layer{{Scheduler: a}, {Scheduler: b}})
	paused := func(n uint64) sdk.Event { return sdk.Event{Number: n, Kind: sdk.TrialPaused} }
	if got := decide(t, s, result(1, 1), paused(2), paused(3)); !strings.HasSuffix(got, "] []") {
		t.Errorf("one has resumed it: %s", got)
	}
	if got := decide(t, s, paused(4)); !strings.Contains(got, "ordered") {
		t.Errorf("both have resumed it: %s", got)
	}
	// It was started again in another way: no layer holds it any more.
	decide(t, s, result(5, 2))
	decide(t, s, sdk.Event{Number: 6, Kind: sdk.TrialStarted})
	if got := decide(t, s, paused(7)); !strings.Contains(got, "ordered") {
		t.Errorf("after a start: %s", got)
	}
}

// B-018: a scheduler under stop may only stop, one trial or all.
func TestStoppersOnlyStop(t *testing.T) {
	for name, c := range map[string]struct {
		answer sdk.Decisions
		want   string
	}{
		"stop":     {says(1, sdk.Stop, 0, "enough"), "[{1 2 0 enough}] []"},
		"stop all": {orders(sdk.StopAll), "[{1 0 0 }] [{5 0 0 0 [] [] ordered}]"},
		"pause": {says(1, sdk.Pause, 0, "later"),
			`scheduler "x": it paused a trial, but under stop it may only stop; use it as the scheduler`},
		"exploit": {orders(sdk.Exploit),
			`scheduler "x": it sent a command other than a stop, but under stop it may only stop; use it as the ` +
				`scheduler`},
	} {
		t.Run(name, func(t *testing.T) {
			s := New([]*Layer{{Scheduler: &script{traits: sdk.Traits{Quiet: true}}},
				{Name: `scheduler "x"`, Stops: true,
					Scheduler: &script{answers: map[uint64]sdk.Decisions{1: c.answer}}}})
			if got := decide(t, s, result(1, 1)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A snapshot restores the state of each layer, so that later decisions are the same.
func TestSnapshot(t *testing.T) {
	make := func() []*Layer {
		return []*Layer{{Scheduler: &script{state: []byte("a"),
			answers: map[uint64]sdk.Decisions{1: says(1, sdk.Pause, 9, "a"), 3: orders(sdk.Resume)}}},
			{Scheduler: &script{state: []byte("b"), answers: map[uint64]sdk.Decisions{1: says(1, sdk.Pause, 4, "b")}}}}
	}
	before := New(make())
	decide(t, before, result(1, 1))
	snapshot, err := before.Snapshot(t.Context())
	if err != nil || !before.Snapshots() {
		t.Fatal(err)
	}
	parts, err := Parts(snapshot, 2)
	if err != nil || string(parts.Plugin(0)) != "a" || string(parts.Plugin(1)) != "b" {
		t.Fatal(err, parts)
	}
	layers := make()
	for i, l := range layers {
		parts.Restore(i, l)
	}
	after := New(layers)
	for _, e := range []sdk.Event{{Number: 3, Kind: sdk.TrialPaused}, result(4, 3), result(5, 5)} {
		if a, b := decide(t, before, e), decide(t, after, e); a != b {
			t.Errorf("event %d: %s, after the snapshot %s", e.Number, a, b)
		}
	}
	if _, err := Parts(snapshot, 3); err == nil {
		t.Error("a snapshot of two is taken for three")
	}
}

func TestTraits(t *testing.T) {
	s := New([]*Layer{{Scheduler: &script{traits: sdk.Traits{Quiet: true, RunAhead: 0}}},
		{Scheduler: &script{traits: sdk.Traits{RunAhead: 1, Metrics: true, Requires: []string{"m"}}}},
		{Scheduler: &script{traits: sdk.Traits{RunAhead: 3, Saves: true, Again: true}}}})
	if got, want := fmt.Sprint(s.Traits()), "{false false 1 true true false true [m]}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s.Close() == nil {
		t.Error("no error of those that could not be closed")
	}
}
