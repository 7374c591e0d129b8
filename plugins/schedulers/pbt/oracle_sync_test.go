package pbt

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// assembly is pbt with sync a second time, slowly: after each event it looks through
// all trials whether everybody is there.
type assembly struct {
	referee  // its ranking, best and donors
	planned  int
	most     uint64 // max; 0: none
	barrier  uint64
	furthest uint64
	meetings int
}

func (r *assembly) check(e sdk.Event, got sdk.Decisions) error {
	t := r.trials[e.Trial]
	if t == nil {
		t = &standing{trial: e.Trial}
		r.trials[e.Trial] = t
	}
	if want := r.verdict(e, t); !slices.Equal(want, bare(got.Decisions)) {
		return fmt.Errorf("decided %+v, want %+v", got.Decisions, want)
	}
	switch e.Kind {
	case sdk.TrialAdded:
		t.point = e.Point
	case sdk.CheckpointSaved:
		t.saved = e.Iteration
	case sdk.TrialCompleted, sdk.TrialFailed:
		t.phase = "ended"
	case sdk.TrialPaused:
		t.phase = "waiting"
	}
	if !r.complete() {
		if len(got.Commands) > 0 {
			return fmt.Errorf("commands %+v before all have arrived", got.Commands)
		}
		return nil
	}
	return r.meet(got.Commands)
}

func (r *assembly) verdict(e sdk.Event, t *standing) []sdk.Decision {
	if e.Kind != sdk.ResultReported || t.phase != "" {
		return nil
	}
	d := sdk.Decision{Event: e.Number}
	switch {
	case r.most > 0 && e.Iteration >= r.most:
		d.Verdict, t.phase = sdk.Stop, "ended"
	case e.Iteration >= r.barrier:
		d.Verdict, t.phase = sdk.Pause, "pausing"
		t.ranked, t.loss, t.told = true, e.Losses[0], false
		r.furthest = max(r.furthest, e.Iteration)
	case t.told:
		return nil
	default:
		d.Until, t.told = r.barrier, true
		if r.most > 0 {
			d.Until = min(d.Until, r.most)
		}
	}
	return []sdk.Decision{d}
}

// complete: all that live wait, and no others will come.
func (r *assembly) complete() bool {
	waiting := 0
	for _, t := range r.trials {
		switch t.phase {
		case "waiting":
			waiting++
		case "ended":
		default:
			return false
		}
	}
	return waiting > 0 && len(r.trials) >= r.planned
}

// meet checks that each is told to go on, in the order of their ranks, the worst from
// the best.
func (r *assembly) meet(got []sdk.Command) error {
	all, k := r.ranking(), r.best()
	if len(got) != len(all) {
		return fmt.Errorf("%d commands for %d trials", len(got), len(all))
	}
	for rank, t := range all {
		donors := r.donors(t)
		if worst := rank >= len(all)-k || math.IsInf(t.loss, 1); !worst {
			donors = nil
		}
		if err := r.goesOn(t, donors, got[rank]); err != nil {
			return err
		}
	}
	for i, t := range all {
		t.phase = ""
		if c := got[i]; c.Kind == sdk.Exploit {
			t.point, t.saved, t.ranked = c.Point, 0, false
		}
	}
	r.barrier = max(r.barrier, r.furthest) + r.interval
	r.meetings++
	return nil
}

func (r *assembly) goesOn(t *standing, donors []*standing, c sdk.Command) error {
	i := slices.IndexFunc(donors, func(d *standing) bool { return d.trial == c.Donor })
	switch {
	case c.Trial != t.trial || c.Reason == "":
		return fmt.Errorf("%+v, want trial %d and a reason", c, t.trial)
	case len(donors) == 0 && c.Kind == sdk.Resume:
		return nil
	case len(donors) == 0 || c.Kind != sdk.Exploit || i < 0 || donors[i].saved != c.Iteration:
		return fmt.Errorf("%+v with %d donors", c, len(donors))
	}
	return explored(donors[i].point, c.Point)
}

func TestSyncAgainstLookingThroughAll(t *testing.T) {
	meetings, exploits := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		sim := drawSim(t)
		sim.Workers = max(sim.Workers, 2)
		sim.Step = schedtest.DrawSteps(t, 3)
		r := &assembly{referee: referee{
			interval: rapid.Uint64Range(1, 4).Draw(t, "interval"),
			quantile: rapid.SampledFrom([]float64{0.1, 0.25, 0.3, 0.5}).Draw(t, "quantile"),
			trials:   map[uint32]*standing{},
		}, planned: sim.Trials, most: rapid.SampledFrom([]uint64{0, 7, 12}).Draw(t, "max")}
		burnIn := rapid.Uint64Range(0, 5).Draw(t, "burn in")
		r.barrier = max(r.interval, burnIn)
		options := fmt.Sprintf(`{"sync": true, "interval": %d, "burn_in": %d, "max": %d, "quantile": %v, "resample": 0}`, r.interval, burnIn, r.most, r.quantile)
		h, err := sim.Run(schedtest.Checked(opened(t, sim.Trials, options), r.check))
		if err != nil {
			t.Fatal(err)
		}
		meetings += r.meetings
		exploits += h.Count(sdk.Exploit)
	})
	if meetings == 0 || exploits == 0 {
		t.Errorf("%d meetings, %d exploits", meetings, exploits)
	}
}
