package schedtest

import (
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Problem returns a small problem: one loss to minimise and a planned number of trials.
func Problem(trials int) sdk.Problem {
	return sdk.Problem{
		Space:      &space.Space{},
		Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}},
		Seed:       1,
		Trials:     trials,
	}
}
