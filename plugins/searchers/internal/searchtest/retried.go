package searchtest

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Retried checks that trials that failed, and that the user ran again, count by their results.
func Retried(t *testing.T, p sdk.SearcherPlugin) {
	const trials, suggestions, best = 40, 30, 0.8
	s := open1(t, p, Reals(1, 0, 1), "{}")
	at := func(i int) float64 { return (float64(i) + 0.5) / trials }
	for i := range trials {
		Observe(t, s, Added(i, space.Point{at(i)}), sdk.Event{Kind: sdk.TrialFailed, Trial: uint32(i)})
	}
	for i := range trials {
		end := ended(i, math.Abs(at(i)-best))
		result := end
		result.Kind = sdk.ResultReported
		Observe(t, s, result, end)
	}
	away := 0.0
	for i := range suggestions {
		away += math.Abs(Suggest(t, s, Request(1, trials+i)).Points[0][0]-best) / suggestions
	}
	if away > 0.25 { // at random it is 0.29 to 0.34
		t.Errorf("suggestions are %.2f away from the best trial on average", away)
	}
}
