package bohb

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func TestPlugin(t *testing.T) { schedtest.Plugin(t, Plugin) }

// B-010, B-015
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, &space.Space{}, "testdata")
}

func TestBrackets(t *testing.T) {
	for _, c := range []struct {
		max, min, factor uint64
		want             string
	}{
		{81, 1, 3, "[{81 [1 3 9 27 81]} {27 [3 9 27 81]} {9 [9 27 81]} {6 [27 81]} {5 [81]}]"},
		{81, 4, 3, "[{9 [9 27 81]} {3 [27 81]} {3 [81]}]"},
		{100, 1, 4, "[{64 [1 6 25 100]} {16 [6 25 100]} {8 [25 100]} {4 [100]}]"},
		{9, 9, 3, "[{1 [9]}]"},
	} {
		if got := fmt.Sprint(band(c.max, c.min, c.factor)); got != c.want {
			t.Errorf("(%d, %d, %d): %s, want %s", c.max, c.min, c.factor, got, c.want)
		}
	}
}

func openWith(t fataler, trials int, options string) sdk.Scheduler {
	s, _, err := Plugin.Open(schedtest.Problem(trials), []byte(options))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

// One whole round of (9, 3): who ends where follows from the sizes alone.
func TestOneRound(t *testing.T) {
	sim := schedtest.Sim{
		Trials: 9 + 3 + 3, Workers: 4, Length: 100, Burst: 1,
		Loss: func(trial uint32, _ uint64) float64 { return float64(trial * 7919 % 1009) },
		Pick: func(int) int { return 0 },
	}
	h, err := sim.Run(openWith(t, sim.Trials, `{"max": 9}`))
	if err != nil {
		t.Fatal(err)
	}
	ends := map[uint64]int{}
	for _, end := range h.Ends {
		ends[end.Iteration]++
	}
	if want := map[uint64]int{1: 6, 3: 2 + 2, 9: 1 + 1 + 3}; !maps.Equal(ends, want) {
		t.Errorf("trials ended at %v, want %v", ends, want)
	}
}

func drawSim(t *rapid.T) schedtest.Sim {
	losses := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, 4, 5, 6, math.Inf(1)}), 97, 97).Draw(t, "losses")
	fails := rapid.SliceOfN(rapid.IntRange(0, 9), 53, 53).Draw(t, "fails")
	picks, drawn := rapid.SliceOfN(rapid.IntRange(0, 1000), 31, 31).Draw(t, "picks"), 0
	return schedtest.Sim{
		Trials:  rapid.IntRange(1, 40).Draw(t, "trials"),
		Workers: rapid.IntRange(1, 6).Draw(t, "workers"),
		Length:  rapid.Uint64Range(1, 12).Draw(t, "length"),
		Burst:   rapid.IntRange(1, 4).Draw(t, "burst"),
		Loss:    func(trial uint32, iteration uint64) float64 { return losses[(uint64(trial)*31+iteration*7)%97] },
		Fails:   func(trial uint32, iteration uint64) bool { return fails[(uint64(trial)*29+iteration)%53] == 0 },
		Step:    func(trial uint32) uint64 { return 1 + uint64(fails[trial%53])%3 },
		Pick:    func(n int) int { drawn++; return picks[drawn%31] % n },
	}
}

const small = `{"max": 9, "reduction_factor": 2}`

// Every bracket ends, whatever fails, and batching does not matter.
func TestEveryTrialEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := drawSim(t)
		planned := sim.Trials
		if sim.SearchEnds = rapid.Bool().Draw(t, "search ends"); sim.SearchEnds {
			planned = 0
		}
		h, err := sim.Run(openWith(t, planned, small))
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Ends) != sim.Trials {
			t.Fatalf("%d of %d trials ended: %v", len(h.Ends), sim.Trials, slices.Sorted(maps.Keys(h.Ends)))
		}
		if err := schedtest.Cuts(openWith(t, planned, small), h, sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

type fataler interface{ Fatalf(string, ...any) }

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"max": 9}`, `{"max": 9, "min": 2, "reduction_factor": 2}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}
