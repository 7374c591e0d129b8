package pbt

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve/evolvetest"
	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func drawWorld(t *rapid.T, sync bool) *evolvetest.World {
	return &evolvetest.World{
		Interval: rapid.Uint64Range(1, 4).Draw(t, "interval"),
		BurnIn:   rapid.Uint64Range(0, 5).Draw(t, "burn in"),
		Quantile: rapid.SampledFrom([]float64{0.1, 0.25, 0.3, 0.5}).Draw(t, "quantile"),
		Periods:  []uint64{1},
		Max:      rapid.SampledFrom([]uint64{0, 7, 12}).Draw(t, "max"),
		Sync:     sync,
		Explored: func(donors []evolvetest.Standing, c sdk.Command) error {
			return evolvetest.Changed(schedtest.Mixed, donors, c)
		},
	}
}

func TestAgainstLookingThroughAll(t *testing.T) {
	for name, sync := range map[string]bool{"sync": true, "async": false} {
		t.Run(name, func(t *testing.T) { against(t, sync) })
	}
}

func against(t *testing.T, sync bool) {
	meetings, exploits := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		sim, w := drawSim(t), drawWorld(t, sync)
		sim.Step = schedtest.DrawSteps(t, 3)
		sim.Workers, w.Planned = max(sim.Workers, 2), sim.Trials
		options, err := json.Marshal(map[string]any{"interval": w.Interval, "burn_in": w.BurnIn, "max": w.Max,
			"quantile": w.Quantile, "sync": sync, "resample": 0})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sim.Run(schedtest.Checked(opened(t, sim.Trials, string(options)), w.Check)); err != nil {
			t.Fatal(err)
		}
		meetings, exploits = meetings+w.Meetings, exploits+w.Local
	})
	if exploits == 0 || sync != (meetings > 0) {
		t.Errorf("%d meetings, %d exploits", meetings, exploits)
	}
}
