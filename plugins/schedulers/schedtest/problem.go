package schedtest

import (
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Problem is a small one: one loss to be made small and a planned number of
// trials.
func Problem(trials int) sdk.Problem {
	return sdk.Problem{
		Space:      &space.Space{},
		Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}},
		Seed:       1,
		Trials:     trials,
	}
}
