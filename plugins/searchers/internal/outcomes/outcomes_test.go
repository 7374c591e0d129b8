package outcomes

import (
	"fmt"
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func TestOutcomes(t *testing.T) {
	trials := New(sdk.Problem{Space: &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, High: 1}}}})
	var got []string
	tell := func(kind sdk.EventKind, trial uint32, losses ...float64) {
		t.Helper()
		o, err := trials.Observe(&sdk.Event{Kind: kind, Trial: trial, Point: space.Point{0.5}, Losses: losses})
		if err != nil {
			t.Fatal(err)
		}
		if o != nil {
			got = append(got, fmt.Sprint(o.Trial, o.Losses, o.Finite()))
		}
	}
	for i := range uint32(7) {
		tell(sdk.TrialAdded, i)
	}
	tell(sdk.ResultReported, 0, 2)
	tell(sdk.TrialCompleted, 0)
	tell(sdk.TrialCompleted, 0, 1) // it has ended
	tell(sdk.TrialPaused, 1)       // no result yet
	tell(sdk.TrialPaused, 1, 3)
	tell(sdk.TrialRemoved, 2)
	tell(sdk.TrialRemoved, 3, 4)
	tell(sdk.TrialFailed, 4, 5)
	tell(sdk.TrialCompleted, 5, math.NaN())
	tell(sdk.TrialCompleted, 6)
	tell(sdk.TrialCompleted, 99, 1) // unknown
	want := "[0 [2] true 1 [3] true 3 [4] true 4 [+Inf] false 5 [+Inf] false 6 [+Inf] false]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
	if len(trials.open) != 0 {
		t.Error("trials that ended are kept")
	}
}

func TestMessages(t *testing.T) {
	trials := New(sdk.Problem{Space: &space.Space{}})
	for want, e := range map[string]sdk.Event{
		"trial 3 has 1 values; the space has 0 parameters": {Kind: sdk.TrialAdded, Trial: 3,
			Point: space.Point{1}},
		"a result of trial 4 has 2 losses; there are 1 objectives": {Kind: sdk.ResultReported, Trial: 4,
			Losses: []float64{1, 2}},
	} {
		if _, err := trials.Observe(&e); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
