package pbt

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-010, B-015
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, schedtest.Mixed, "testdata")
}

func drawSim(t *rapid.T) schedtest.Sim {
	sim := schedtest.DrawSim(t, schedtest.Limits{Trials: 12, Length: 20, Failing: 20})
	sim.Limit, sim.Point = 500, schedtest.MixedPoint
	return sim
}

// Whatever fails, no trial waits for ever and only paused trials get commands; batching does not
// matter.
func TestEveryTrialEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := drawSim(t)
		options := fmt.Sprintf(`{"interval": 2, "quantile": 0.3, "sync": %v}`, rapid.Bool().Draw(t, "sync"))
		sim.Ends(t, func() sdk.Scheduler { return opened(t, sim.Trials, options) })
	})
}

func opened(t *rapid.T, trials int, options string) sdk.Scheduler {
	return schedtest.Open(t, Plugin, schedtest.MixedProblem(trials), options)
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"interval": 2}`, `{"interval": 2, "sync": true, "max": 9}`} {
		schedtest.Chaos(t, Plugin, schedtest.MixedProblem(5), options)
	}
}

// With sync, trials take turns if fewer run at a time than the population has: none is more than an
// interval ahead of one that has not ended.
func TestTurns(t *testing.T) {
	ages, running := map[uint32]uint64{}, 8
	sim := schedtest.Sim{Trials: 8, Workers: 2, Length: 24, Pick: func(int) int { return 0 },
		Point: schedtest.MixedPoint,
		Loss:  func(trial uint32, _ uint64) float64 { return float64(trial) }}
	check := func(e sdk.Event, _ sdk.Decisions) error {
		switch e.Kind {
		case sdk.ResultReported:
			ages[e.Trial] = e.Iteration
		case sdk.TrialCompleted:
			running--
		}
		for trial := range uint32(8) {
			if e.Kind == sdk.ResultReported && e.Iteration > ages[trial]+4 {
				return fmt.Errorf("trial %d is at %d, trial %d at %d", e.Trial, e.Iteration, trial, ages[trial])
			}
		}
		return nil
	}
	if _, err := sim.Run(schedtest.Checked(schedtest.Open(t, Plugin, schedtest.MixedProblem(8),
		`{"interval": 4, "sync": true}`), check)); err != nil || running != 0 {
		t.Errorf("%v, %d have not ended", err, running)
	}
}
