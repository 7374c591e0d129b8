package js_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestHalfway(t *testing.T) {
	t.Parallel()
	s, err := start(t, program(t, sdk.KindScheduler, "samples/halfway.js")).OpenScheduler(t.Context(), problem(small()),
		[]byte(`{"at": 3}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	decide := func(number uint64, trial uint32, iteration uint64, loss float64) sdk.Decision {
		t.Helper()
		d, err := s.Decide(t.Context(), []sdk.Event{
			{Number: number - 1, Kind: sdk.CheckpointSaved, Trial: trial},
			{Number: number, Kind: sdk.ResultReported, Trial: trial, Attempt: 1, Iteration: iteration,
				Losses: []float64{loss}},
		})
		if err != nil || len(d.Decisions) != 1 || d.Decisions[0].Event != number {
			t.Fatal(d, err)
		}
		return d.Decisions[0]
	}
	if d := decide(2, 0, 1, 9); d.Verdict != sdk.Continue || d.Until != 3 {
		t.Errorf("%+v: want no question before iteration 3", d)
	}
	for i, loss := range []float64{1, 5, 2, math.Inf(1)} {
		want := sdk.Continue
		if i == 3 {
			want = sdk.Stop
		}
		// The numbers use all bits and must be returned unchanged.
		if d := decide(math.MaxUint64-uint64(i), uint32(i), 3, loss); d.Verdict != want ||
			(want == sdk.Stop) != strings.Contains(d.Reason, "above the median 2 of 3 others") {
			t.Errorf("trial %d: %+v", i, d)
		}
	}
	if d := decide(1000, 4, 3, 3); d.Verdict != sdk.Continue {
		t.Errorf("%+v: 3 is not above the median of 1, 2, 5 and infinity", d)
	}
}

// again stops a trial at the first result that it reports once more.
const again = `import { scheduler, serve } from "tunehost";
serve(scheduler({name: "again", version: "1", summary: "Stops what is reported again.", open: () => ({
  traits: {again: true},
  decide: (events) => events.filter((e) => e.again)
    .map((e) => ({event: e.number, verdict: "stop", reason: "attempt " + e.attempt})),
})}));`

// A scheduler that asks for results that a restarted trial reports once more is told which they are. B-061
func TestAgain(t *testing.T) {
	t.Parallel()
	c := program(t, sdk.KindScheduler, script(t, again))
	c.Name = "again"
	s, err := start(t, c).OpenScheduler(t.Context(), problem(small()), nil, nil)
	if err != nil || !s.Traits().Again {
		t.Fatal(s, err)
	}
	result := sdk.Event{Number: 1, Kind: sdk.ResultReported, Attempt: 1, Iteration: 1, Losses: []float64{1}}
	once := result
	once.Number, once.Attempt, once.Again = 2, 2, true
	d, err := s.Decide(t.Context(), []sdk.Event{result, once})
	if err != nil || len(d.Decisions) != 1 || d.Decisions[0].Event != 2 || d.Decisions[0].Reason != "attempt 2" {
		t.Error(d, err)
	}
}
