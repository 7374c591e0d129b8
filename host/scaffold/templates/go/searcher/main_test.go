package main

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// The searcher finds the minimum of a parabola better than chance.
func TestFinds(t *testing.T) {
	s := &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, Low: -10, High: 10}}}
	searcher, _, err := plugin.Open(sdk.Problem{Space: s, Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}},
		[]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	best, number := math.Inf(1), uint64(0)
	for trial := range uint32(40) {
		answer, err := searcher.Suggest(t.Context(), []sdk.Request{{Trial: trial, Seed: uint64(trial)}})
		if err != nil || len(answer.Points) != 1 {
			t.Fatal(answer, err)
		}
		x := answer.Points[0][0]
		loss := (x - 3) * (x - 3)
		best = min(best, loss)
		number += 2
		err = searcher.Observe(t.Context(), []sdk.Event{
			{Number: number - 1, Kind: sdk.TrialAdded, Trial: trial, Point: answer.Points[0]},
			{Number: number, Kind: sdk.TrialCompleted, Trial: trial, Losses: []float64{loss}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if best > 0.1 {
		t.Errorf("the best loss of 40 trials is %v", best)
	}
}
