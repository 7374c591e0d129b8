package searchtest

import (
	"fmt"
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Retried checks that trials that failed, and that the user ran again, count by their results, whether they then
// complete or are paused.
func Retried(t *testing.T, p sdk.SearcherPlugin) {
	for _, kind := range []sdk.EventKind{sdk.TrialCompleted, sdk.TrialPaused} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) { retried(t, p, kind) })
	}
}

func retried(t *testing.T, p sdk.SearcherPlugin, kind sdk.EventKind) {
	const trials, suggestions, best = 40, 30, 0.8
	s := open1(t, p, Reals(1, 0, 1), "{}")
	at := func(i int) float64 { return (float64(i) + 0.5) / trials }
	for i := range trials {
		Observe(t, s, Added(i, space.Point{at(i)}), sdk.Event{Kind: sdk.TrialFailed, Trial: uint32(i)})
	}
	for i := range trials {
		result := ended(i, math.Abs(at(i)-best))
		end := result
		result.Kind, end.Kind = sdk.ResultReported, kind
		if kind == sdk.TrialPaused {
			end.Losses = nil
		}
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
