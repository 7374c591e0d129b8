package main

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// The worst of four trials is stopped, after the grace period.
func TestStopsTheWorst(t *testing.T) {
	scheduler, _, err := plugin.Open(sdk.Problem{}, []byte(`{"grace": 2}`))
	if err != nil {
		t.Fatal(err)
	}
	var events []sdk.Event
	for iteration := range uint64(2) {
		for trial := range uint32(4) {
			events = append(events, sdk.Event{Number: uint64(len(events) + 1), Kind: sdk.ResultReported, Trial: trial,
				Iteration: iteration + 1, Losses: []float64{float64(trial)}})
		}
	}
	answer, err := scheduler.Decide(t.Context(), events)
	if err != nil || len(answer.Decisions) != 1 || answer.Decisions[0].Event != 8 ||
		answer.Decisions[0].Verdict != sdk.Stop {
		t.Errorf("%+v, %v; want trial 3 to be stopped at iteration 2", answer, err)
	}
}
