package suite

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Start starts one of [Plugins], and ends it with the test.
type Start func(t *testing.T, kind sdk.Kind) plugin.Plugin

// Problem returns a problem with two parameters.
func Problem() sdk.Problem {
	return sdk.Problem{
		Space: &space.Space{Params: []space.Param{
			{Name: "lr", Kind: space.Real, Low: 0, High: 1},
			{Name: "opt", Kind: space.Choice, Choices: [][]byte{[]byte(`"a"`), []byte(`"b"`)}},
		}},
		Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}},
		Seed:       7, Trials: 10, Concurrency: 2,
	}
}

// Do returns options that make a plugin misbehave.
func Do(what string) []byte {
	b, _ := json.Marshal(Options{Do: what})
	return b
}

// Run runs the whole suite on one transport.
func Run(t *testing.T, start Start) {
	t.Run("describe", func(t *testing.T) { describe(t, start) })
	t.Run("searcher", func(t *testing.T) { searches(t, start) })
	t.Run("searcher-fails", func(t *testing.T) { searcherFails(t, start) })
	t.Run("searcher-hangs", func(t *testing.T) { searcherHangs(t, start) })
	t.Run("scheduler", func(t *testing.T) { schedules(t, start) })
	t.Run("reporter", func(t *testing.T) { tellsReporter(t, start) })
	t.Run("reporter-fails", func(t *testing.T) { reporterFails(t, start) })
	t.Run("executor", func(t *testing.T) { executes(t, start) })
	t.Run("executor-fails", func(t *testing.T) { executorFails(t, start) })
	t.Run("wrong-kind", func(t *testing.T) { wrongKind(t, start) })
	runTrainable(t, start)
}

func describe(t *testing.T, start Start) {
	info, err := start(t, sdk.KindSearcher).Describe(t.Context())
	want := Searcher.Info
	want.Kind = sdk.KindSearcher
	if err != nil || !cmp.Equal(info, want) {
		t.Fatalf("%+v, %v", info, err)
	}
}

func open(t *testing.T, start Start, options, snapshot []byte) plugin.Searcher {
	t.Helper()
	s, err := start(t, sdk.KindSearcher).OpenSearcher(t.Context(), Problem(), options, snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Events returns n events numbered from first.
func Events(first uint64, n int) []sdk.Event {
	events := make([]sdk.Event, n)
	for i := range events {
		events[i] = sdk.Event{Number: first + uint64(i), Kind: sdk.ResultReported, Trial: uint32(i % 3), Iteration: 1,
			Losses: []float64{0.5}}
	}
	return events
}

func searches(t *testing.T, start Start) {
	s := open(t, start, nil, nil)
	want := sdk.Traits{RunAhead: 3, Requires: []string{"loss"}}
	if !cmp.Equal(s.Traits(), want) || !s.Snapshots() {
		t.Fatalf("traits %+v, snapshots %v", s.Traits(), s.Snapshots())
	}
	if err := s.Observe(t.Context(), Events(1, 3000)); err != nil { // more than one message
		t.Fatal(err)
	}
	nan := math.NaN()
	requests := []sdk.Request{{Trial: 0, Seed: 5}, {Trial: 1, Seed: 6, Given: space.Point{nan, 1}}}
	answer, err := s.Suggest(t.Context(), requests)
	if err != nil || !cmp.Equal(answer.Points, []space.Point{{8, 8}, {9, 1}}) {
		t.Fatalf("%v, %v", answer, err)
	}
	state, err := s.Snapshot(t.Context())
	if err != nil || string(state) != "3000" {
		t.Fatalf("snapshot %q, %v", state, err)
	}
	again := open(t, start, nil, state)
	if err := again.Observe(t.Context(), Events(3001, 1)); err != nil {
		t.Fatal(err)
	}
	if waits := open(t, start, Do("wait"), nil); true {
		a, err := waits.Suggest(t.Context(), requests)
		if err != nil || a.Status != sdk.Wait || len(a.Points) != 0 {
			t.Fatalf("%v, %v", a, err)
		}
	}
}

// wants checks a failure's kind, and that its one line contains the parts.
func wants(t *testing.T, err error, f plugin.Failure, parts ...string) {
	t.Helper()
	if plugin.FailureOf(err) != f {
		t.Fatalf("got the failure %q: %v; want %q", plugin.FailureOf(err), err, f)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is more than a line", err)
	}
}

func searcherFails(t *testing.T, start Start) {
	for do, want := range map[string]struct {
		failure plugin.Failure
		says    string
	}{
		"refuse":        {plugin.Refused, "refused: population must be even"},
		"panic in open": {plugin.Failed, "panic in Open: no luck"},
		"nothing":       {plugin.Refused, "Open returned "},
	} {
		_, err := start(t, sdk.KindSearcher).OpenSearcher(t.Context(), Problem(), Do(do), nil)
		wants(t, err, want.failure, `searcher "probe"`, want.says)
	}
	for do, says := range map[string]string{
		"panic": "panic in Suggest: no luck", "fail": "the matrix / is singular",
		"few": "fewer points (0) than requests (1)", "short": "has length 0; expected 2",
	} {
		_, err := open(t, start, Do(do), nil).Suggest(t.Context(), make([]sdk.Request, 1))
		wants(t, err, plugin.Failed, `searcher "probe" failed in Suggest: `, says)
	}
	err := open(t, start, Do("fail in observe"), nil).Observe(t.Context(), Events(1, 1))
	wants(t, err, plugin.Failed, "observed too much")
}

func searcherHangs(t *testing.T, start Start) {
	s := open(t, start, Do("hang"), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Suggest(ctx, make([]sdk.Request, 1))
	wants(t, err, plugin.Hung, "did not answer Suggest within its deadline")
	_, err = s.Suggest(t.Context(), make([]sdk.Request, 1)) // it is gone
	wants(t, err, plugin.Crashed, "cannot be called")
}

func schedules(t *testing.T, start Start) {
	s, err := start(t, sdk.KindScheduler).OpenScheduler(t.Context(), Problem(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if traits := s.Traits(); !traits.Saves || !traits.Again || s.Snapshots() {
		t.Fatalf("traits %+v, snapshots %v", s.Traits(), s.Snapshots())
	}
	events := Events(1, 3)
	events[1].Losses = []float64{math.Inf(1)}
	events[2].Again = true
	got, err := s.Decide(t.Context(), events)
	want := sdk.Decisions{
		Decisions: []sdk.Decision{{Event: 1, Until: 2}, {Event: 2, Verdict: sdk.Stop, Reason: "too large"},
			{Event: 3, Verdict: sdk.Pause, Reason: "reported again"}},
		Commands: []sdk.Command{{Kind: sdk.Resume, Trial: 7, Reason: "its turn"}},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Fatalf("%v\n%s", err, cmp.Diff(want, got))
	}
	twice, err := start(t, sdk.KindScheduler).OpenScheduler(t.Context(), Problem(), Do("twice"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = twice.Decide(t.Context(), Events(1, 1))
	wants(t, err, plugin.Failed, "decided on event 1", "decided already")
}

func wrongKind(t *testing.T, start Start) {
	_, err := start(t, sdk.KindSearcher).OpenTrainable(t.Context(), nil)
	wants(t, err, plugin.NotStarted, `searcher "probe" is not a trainable`)
	s := start(t, sdk.KindSearcher)
	if _, err := s.OpenSearcher(t.Context(), Problem(), nil, nil); err != nil {
		t.Fatal(err)
	}
	_, err = s.OpenSearcher(t.Context(), Problem(), nil, nil)
	if err == nil || errors.Is(err, context.Canceled) {
		t.Fatal("opened twice")
	}
}
