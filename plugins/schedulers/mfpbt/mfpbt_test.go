package mfpbt

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-010, B-015
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, schedtest.Mixed, "testdata")
}

// drawSim has enough trials for several subpopulations, so that some may be better.
func drawSim(t *rapid.T) schedtest.Sim {
	sim := schedtest.DrawSim(t, schedtest.Limits{Trials: 24, Length: 40, Failing: 100})
	sim.Limit, sim.Point = 1000, schedtest.MixedPoint
	sim.Step = schedtest.DrawSteps(t, 2)
	drawn, ahead := sim.Loss, rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 4}), 6, 6).Draw(t, "ahead")
	sim.Loss = func(trial uint32, iteration uint64) float64 { return drawn(trial, iteration) - ahead[trial%6] }
	return sim
}

func opened(t *rapid.T, trials int, options string) sdk.Scheduler {
	return schedtest.Open(t, Plugin, schedtest.MixedProblem(trials), options)
}

// Whatever fails, no trial waits for ever and only paused trials get commands; batching does not
// matter.
func TestEveryTrialEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := drawSim(t)
		options := fmt.Sprintf(`{"interval": 1, "periods": [1, 2, 4], "quantile": 0.3, "sync": %v}`,
			rapid.Bool().Draw(t, "sync"))
		h := sim.Ends(t, func() sdk.Scheduler { return opened(t, sim.Trials, options) })
		for _, c := range h.Out.Commands {
			if err := schedtest.Mixed.Check(c.Point); c.Kind == sdk.Exploit && err != nil {
				t.Fatalf("trial %d continues with %v: %v", c.Trial, c.Point, err)
			}
		}
	})
}

// With a single period it is pbt.
func TestOnePeriodIsPBT(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := drawSim(t)
		options := fmt.Sprintf(`"interval": 2, "quantile": 0.3, "sync": %v}`, rapid.Bool().Draw(t, "sync"))
		h, err := sim.Run(opened(t, sim.Trials, `{"periods": [1], `+options))
		if err != nil {
			t.Fatal(err)
		}
		other := schedtest.Open(t, pbt.Plugin, schedtest.MixedProblem(sim.Trials), "{"+options)
		if err := schedtest.Cuts(other, h, sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

func TestChaos(t *testing.T) {
	for _, options := range []string{
		`{"interval": 2}`,
		`{"interval": 1, "periods": [1, 2], "quantile": 0.5, "mutate": ["lr", "optimizer"]}`,
		`{"interval": 1, "periods": [2, 3], "sync": true, "max": 9}`,
	} {
		schedtest.Chaos(t, Plugin, schedtest.MixedProblem(5), options)
	}
}
