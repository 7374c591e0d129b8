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
	if len(trials.open) != 1 { // the failed one may run again
		t.Errorf("%d trials are followed", len(trials.open))
	}
}

// A failed trial that runs again has another outcome, once, if it then has a result that can be compared.
func TestAgain(t *testing.T) {
	problem := sdk.Problem{Space: &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, High: 1}}}}
	result := sdk.Event{Kind: sdk.ResultReported, Losses: []float64{3}}
	kinds := func(kinds ...sdk.EventKind) (events []sdk.Event) {
		for _, kind := range kinds {
			events = append(events, sdk.Event{Kind: kind})
		}
		return events
	}
	for _, c := range []struct {
		later []sdk.Event
		want  string
	}{
		{append(kinds(sdk.TrialFailed), result, kinds(sdk.TrialCompleted)[0]), "[[3]] [[+Inf] [3]]"},
		{append([]sdk.Event{result}, kinds(sdk.TrialFailed, sdk.TrialCompleted)...), "[[+Inf]] [[+Inf]]"},
		{append([]sdk.Event{result}, kinds(sdk.TrialPaused, sdk.TrialCompleted)...), "[[3]] [[+Inf] [3]]"},
		{kinds(sdk.TrialFailed, sdk.TrialRemoved), "[[+Inf]] [[+Inf]]"},
		{append([]sdk.Event{result}, kinds(sdk.TrialRemoved)...), "[[3]] [[+Inf] [3]]"},
	} {
		trials, list := New(problem), []*Outcome{}
		all, alone := [][]float64{}, [][]float64{}
		failed := []sdk.Event{{Kind: sdk.TrialAdded, Point: space.Point{0}}, {Kind: sdk.TrialFailed}}
		events := append(failed, c.later...)
		for i := range events {
			if o, err := trials.Observe(&events[i]); err != nil {
				t.Fatal(err)
			} else if o != nil {
				all, list = append(all, o.Losses), Place(list, o)
			}
		}
		for _, o := range list {
			alone = append(alone, o.Losses)
		}
		if got := fmt.Sprint(alone, all); got != c.want {
			t.Errorf("%v: %s, want %s", c.later, got, c.want)
		}
	}
}

func TestMessages(t *testing.T) {
	trials := New(sdk.Problem{Space: &space.Space{}})
	for want, e := range map[string]sdk.Event{
		"the point of trial 3 has length 1; expected 0, one for each parameter": {Kind: sdk.TrialAdded, Trial: 3,
			Point: space.Point{1}},
		"a result of trial 4 has 2 losses; there are 1 objectives": {Kind: sdk.ResultReported, Trial: 4,
			Losses: []float64{1, 2}},
	} {
		if _, err := trials.Observe(&e); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
