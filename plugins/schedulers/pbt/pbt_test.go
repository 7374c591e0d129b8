package pbt

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// mixed has one parameter of each form. momentum exists for the second optimizer
// only.
var mixed = &space.Space{Params: []space.Param{
	{Name: "lr", Kind: space.Real, Low: 1e-4, High: 1, Log: true},
	{Name: "dropout", Kind: space.Real, Low: 0, High: 1},
	{Name: "layers", Kind: space.Int, Low: 1, High: 4},
	{Name: "batch", Kind: space.Int, Low: 16, High: 128, Step: 16},
	{Name: "noise", Kind: space.Normal, Mean: 0, SD: 1},
	{Name: "optimizer", Kind: space.Choice, Choices: [][]byte{[]byte(`"adam"`), []byte(`"sgd"`)}},
	{Name: "size", Kind: space.Ordinal, Choices: [][]byte{[]byte(`"s"`), []byte(`"m"`), []byte(`"l"`)}},
	{Name: "momentum", Kind: space.Real, Low: 0, High: 0.9, Step: 0.1,
		When: &space.Expr{Op: space.In, Param: 5, Set: []int{1}}},
}}

func TestPlugin(t *testing.T) { schedtest.Plugin(t, Plugin) }

// B-010, B-015
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, mixed, "testdata")
}

func drawSim(t *rapid.T) schedtest.Sim {
	losses := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, 4, 5, 6, math.Inf(1)}), 97, 97).Draw(t, "losses")
	fails := rapid.SliceOfN(rapid.IntRange(0, 19), 53, 53).Draw(t, "fails")
	picks, drawn := rapid.SliceOfN(rapid.IntRange(0, 1000), 31, 31).Draw(t, "picks"), 0
	return schedtest.Sim{
		Trials:  rapid.IntRange(1, 12).Draw(t, "trials"),
		Workers: rapid.IntRange(1, 6).Draw(t, "workers"),
		Length:  rapid.Uint64Range(1, 20).Draw(t, "length"),
		Burst:   rapid.IntRange(1, 4).Draw(t, "burst"),
		Loss:    func(trial uint32, iteration uint64) float64 { return losses[(uint64(trial)*31+iteration*7)%97] },
		Fails:   func(trial uint32, iteration uint64) bool { return fails[(uint64(trial)*29+iteration)%53] == 0 },
		Pick:    func(n int) int { drawn++; return picks[drawn%31] % n },
		Limit:   500,
	}
}

// Whatever fails, nobody waits for ever and only paused trials are commanded;
// and batching does not matter.
func TestEveryTrialEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := drawSim(t)
		options := fmt.Sprintf(`{"interval": 2, "quantile": 0.3, "sync": %v}`, rapid.Bool().Draw(t, "sync"))
		h, err := sim.Run(opened(t, sim.Trials, options))
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Ends) != sim.Trials && h.Iterations < sim.Limit {
			t.Fatalf("%d of %d trials ended", len(h.Ends), sim.Trials)
		}
		if err := schedtest.Cuts(opened(t, sim.Trials, options), h, sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

func opened(t *rapid.T, trials int, options string) sdk.Scheduler {
	s, _, err := Plugin.Open(problem(trials), []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"interval": 2}`, `{"interval": 2, "sync": true, "max": 9}`} {
		schedtest.Chaos(t, Plugin, problem(5), options)
	}
}

func problem(trials int) sdk.Problem {
	p := schedtest.Problem(trials)
	p.Space = mixed
	return p
}
