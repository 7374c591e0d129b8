package schedtest

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Chaos sends events in arbitrary order: results of trials that were never added or have ended,
// iterations that repeat and jump, losses that are missing or NaN. The scheduler must not panic. It
// must decide each result at most once, in order and with reasons, and batches must not matter.
func Chaos(t *testing.T, plugin sdk.SchedulerPlugin, p sdk.Problem, options string) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		h := History{Events: rapid.Custom(events(p)).Draw(t, "events")}
		first, _, err := plugin.Open(p, []byte(options))
		if err != nil {
			t.Fatal(err)
		}
		if h.Out, err = first.Decide(context.Background(), h.Events); err != nil {
			t.Fatal(err)
		}
		if err := wellFormed(h); err != nil {
			t.Fatal(err)
		}
		second, _, err := plugin.Open(p, []byte(options))
		if err != nil {
			t.Fatal(err)
		}
		if err := Cuts(second, h, func(int) int { return 0 }); err != nil {
			t.Fatal(err)
		}
	})
}

func events(p sdk.Problem) func(*rapid.T) []sdk.Event {
	kind := rapid.SampledFrom([]sdk.EventKind{
		sdk.TrialAdded, sdk.TrialStarted, sdk.ResultReported, sdk.ResultReported, sdk.ResultReported,
		sdk.TrialPaused, sdk.TrialPaused, sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved,
		sdk.CheckpointSaved, sdk.TrialRequeued, sdk.ExperimentEnded, sdk.SearchEnded, 99,
	})
	trial := rapid.OneOf(rapid.Uint32Range(0, 9), rapid.Just[uint32](math.MaxUint32))
	iteration := rapid.OneOf(rapid.Uint64Range(0, 12), rapid.Just[uint64](math.MaxUint64))
	loss := rapid.SampledFrom([]float64{-1, 0, 1, 2, 3, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1),
		math.NaN()})
	return func(t *rapid.T) []sdk.Event {
		all := make([]sdk.Event, rapid.IntRange(1, 80).Draw(t, "n"))
		for i := range all {
			all[i] = sdk.Event{Number: uint64(i) + 1, Kind: kind.Draw(t, "kind"), Trial: trial.Draw(t, "trial"),
				Iteration: iteration.Draw(t, "iteration")}
			if all[i].Kind == sdk.TrialAdded {
				all[i].Point = p.Space.Draw(constant{})
			}
			all[i].Losses = rapid.SliceOfN(loss, 0, 1).Draw(t, "losses")
		}
		return all
	}
}

// constant is a source that returns one number.
type constant struct{}

func (constant) Float64() float64 { return 0.3 }

func wellFormed(h History) error {
	last := uint64(0)
	for _, d := range h.Out.Decisions {
		if d.Event <= last || d.Event > uint64(len(h.Events)) || h.Events[d.Event-1].Kind != sdk.ResultReported {
			return fmt.Errorf("a decision on event %d after one on %d", d.Event, last)
		}
		if d.Verdict != sdk.Continue && d.Reason == "" {
			return fmt.Errorf("no reason for the verdict on event %d", d.Event)
		}
		last = d.Event
	}
	for _, c := range h.Out.Commands {
		if c.Reason == "" {
			return fmt.Errorf("no reason for the command %+v", c)
		}
	}
	return nil
}
