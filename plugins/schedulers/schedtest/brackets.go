package schedtest

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Round trains one whole round of brackets and checks how many trials ended at which iterations:
// with different losses and no failures this follows from the sizes.
func Round(t *testing.T, plugin sdk.SchedulerPlugin, trials, workers int, options string, want map[uint64]int) {
	t.Helper()
	sim := Sim{
		Trials: trials, Workers: workers, Length: 100, Burst: 1,
		Loss: func(trial uint32, _ uint64) float64 { return float64(trial * 7919 % 1009) },
		Pick: func(int) int { return 0 },
	}
	h, err := sim.Run(Open(t, plugin, Problem(trials), options))
	if err != nil {
		t.Fatal(err)
	}
	ends := map[uint64]int{}
	for _, end := range h.Ends {
		ends[end.Iteration]++
	}
	if !maps.Equal(ends, want) {
		t.Errorf("trials ended at %v, want %v", ends, want)
	}
}

// Brackets checks that each bracket ends, with failures and rare reports, for a planned number of
// trials or the end of the search.
func Brackets(t *testing.T, plugin sdk.SchedulerPlugin, options string) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		sim := DrawSim(t, Limits{Trials: 40, Length: 12, Failing: 10})
		sim.Step = DrawSteps(t, 3)
		planned := sim.Trials
		if sim.SearchEnds = rapid.Bool().Draw(t, "search ends"); sim.SearchEnds {
			planned = 0
		}
		sim.Ends(t, func() sdk.Scheduler { return Open(t, plugin, Problem(planned), options) })
	})
}
