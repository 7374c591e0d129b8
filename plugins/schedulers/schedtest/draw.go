package schedtest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Limits are the limits for [DrawSim].
type Limits struct {
	Trials int
	Length uint64
	// Failing is n if one of n iterations fails; 0: none.
	Failing int
}

// DrawSim draws a simulation. It uses few different losses, so that ties are frequent, and some are
// infinite. Tests add whatever else they vary.
func DrawSim(t *rapid.T, most Limits) Sim {
	losses := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, 4, 5, 6, math.Inf(1)}), 97, 97).Draw(t, "losses")
	picks, drawn := rapid.SliceOfN(rapid.IntRange(0, 1000), 31, 31).Draw(t, "picks"), 0
	return Sim{
		Trials:  rapid.IntRange(1, most.Trials).Draw(t, "trials"),
		Workers: rapid.IntRange(1, 6).Draw(t, "workers"),
		Length:  rapid.Uint64Range(1, most.Length).Draw(t, "length"),
		Burst:   rapid.IntRange(1, 4).Draw(t, "burst"),
		Loss:    func(trial uint32, iteration uint64) float64 { return losses[(uint64(trial)*31+iteration*7)%97] },
		Fails:   drawFails(t, most.Failing),
		Pick:    func(n int) int { drawn++; return picks[drawn%31] % n },
	}
}

func drawFails(t *rapid.T, one int) func(uint32, uint64) bool {
	if one == 0 {
		return nil
	}
	fails := rapid.SliceOfN(rapid.IntRange(0, one-1), 53, 53).Draw(t, "fails")
	return func(trial uint32, iteration uint64) bool { return fails[(uint64(trial)*29+iteration)%53] == 0 }
}

// DrawSteps draws the number of iterations between a trial's reports, for [Sim].Step.
func DrawSteps(t *rapid.T, most uint64) func(trial uint32) uint64 {
	steps := rapid.SliceOfN(rapid.Uint64Range(1, most), 7, 7).Draw(t, "steps")
	return func(trial uint32) uint64 { return steps[trial%7] }
}

// Open opens the plugin.
func Open(t rapid.TB, plugin sdk.SchedulerPlugin, p sdk.Problem, options string) sdk.Scheduler {
	t.Helper()
	s, _, err := plugin.Open(p, []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Ends runs the simulation: all trials must end, unless the limit is reached first, and other
// batches must give the same result. open returns a new, equal scheduler.
func (s Sim) Ends(t rapid.TB, open func() sdk.Scheduler) History {
	t.Helper()
	h, err := s.Run(open())
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Ends) != s.Trials && (s.Limit == 0 || h.Iterations < s.Limit) {
		t.Fatalf("%d of %d trials ended: %v", len(h.Ends), s.Trials, h.Ends)
	}
	if err := Cuts(open(), h, s.Pick); err != nil {
		t.Fatal(err)
	}
	return h
}
