package mfpbt

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve/evolvetest"
	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func drawWorld(t *rapid.T) *evolvetest.World {
	return &evolvetest.World{
		Interval: rapid.Uint64Range(1, 3).Draw(t, "interval"),
		Quantile: rapid.SampledFrom([]float64{0.1, 0.25, 0.3, 0.3, 0.5}).Draw(t, "quantile"),
		Periods:  rapid.SampledFrom([][]uint64{{1}, {1, 2}, {1, 3}, {2, 3}, {1, 2}, {1, 2, 4}}).Draw(t, "periods"),
		Max:      rapid.SampledFrom([]uint64{0, 0, 12, 30}).Draw(t, "max"),
		Sync:     rapid.Bool().Draw(t, "sync"),
		Explored: func(donors []evolvetest.Standing, c sdk.Command) error {
			return evolvetest.Changed(schedtest.Mixed, donors, c)
		},
	}
}

func TestAgainstLookingThroughAll(t *testing.T) {
	var sum [2]evolvetest.World // without sync, with it
	rapid.Check(t, func(t *rapid.T) {
		sim, w := drawSim(t), drawWorld(t)
		sim.Trials = max(sim.Trials, 8)
		sim.Workers, w.Planned = rapid.IntRange(2, sim.Trials).Draw(t, "workers"), sim.Trials
		options, err := json.Marshal(map[string]any{"interval": w.Interval, "quantile": w.Quantile,
			"periods": w.Periods, "max": w.Max, "sync": w.Sync, "resample": 0})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sim.Run(schedtest.Checked(opened(t, sim.Trials, string(options)), w.Check)); err != nil {
			t.Fatal(err)
		}
		s := &sum[0]
		if w.Sync {
			s = &sum[1]
		}
		s.Local, s.Slower, s.Faster = s.Local+w.Local, s.Slower+w.Slower, s.Faster+w.Faster
	})
	for i, s := range sum {
		t.Logf("sync %v: %d continued from their own, %d from slower, %d from faster ones", i == 1, s.Local, s.Slower,
			s.Faster)
		if s.Local == 0 || s.Slower+s.Faster == 0 {
			t.Error("some of these must happen")
		}
	}
	if sum[0].Slower+sum[1].Slower == 0 || sum[0].Faster+sum[1].Faster == 0 {
		t.Error("both must happen")
	}
}
