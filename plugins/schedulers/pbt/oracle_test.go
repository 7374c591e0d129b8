package pbt

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// referee is pbt without sync a second time, slowly: it looks through all trials at
// each event and checks what the scheduler answers. What is drawn it only checks to be
// possible.
type referee struct {
	interval uint64
	quantile float64
	trials   map[uint32]*standing
}

type standing struct {
	trial       uint32
	phase       string // "", exploiting, saving, ended
	told        bool
	ranked      bool
	loss        float64
	next, saved uint64
	point       space.Point
}

// ranking are the trials that take part, the best first.
func (r *referee) ranking() (all []*standing) {
	for _, t := range r.trials {
		if t.ranked && t.phase != "ended" {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *standing) int { return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.trial, b.trial)) })
	return all
}

// best is how many count as best.
func (r *referee) best() int {
	k, n := 0, len(r.ranking())
	for float64(k)+1e-9 < float64(n)*r.quantile {
		k++
	}
	return min(k, n/2)
}

func (r *referee) donors(self *standing) (all []*standing) {
	for _, t := range r.ranking()[:r.best()] {
		if t != self && t.saved > 0 && !math.IsInf(t.loss, 1) {
			all = append(all, t)
		}
	}
	return all
}

// check is told one event and what the scheduler answered.
func (r *referee) check(e sdk.Event, got sdk.Decisions) error {
	t := r.trials[e.Trial]
	if t == nil {
		t = &standing{trial: e.Trial, next: r.interval}
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
		return r.paused(t, got.Commands)
	}
	if len(got.Commands) > 0 {
		return fmt.Errorf("commands %+v", got.Commands)
	}
	return nil
}

func bare(all []sdk.Decision) []sdk.Decision {
	all = slices.Clone(all)
	for i := range all {
		all[i].Reason = ""
	}
	return all
}

func (r *referee) verdict(e sdk.Event, t *standing) []sdk.Decision {
	d := sdk.Decision{Event: e.Number}
	switch {
	case e.Kind != sdk.ResultReported || t.phase != "":
		return nil
	case e.Iteration >= t.next:
		t.ranked, t.loss, t.next = true, e.Losses[0], e.Iteration+r.interval
		t.phase = r.judge(e, t)
	case t.told:
		return nil
	}
	if t.told = t.phase == ""; t.told {
		d.Until = t.next
	} else {
		d.Verdict = sdk.Pause
	}
	return []sdk.Decision{d}
}

func (r *referee) judge(e sdk.Event, t *standing) string {
	all, k := r.ranking(), r.best()
	rank := slices.Index(all, t)
	switch {
	case (rank >= len(all)-k || math.IsInf(t.loss, 1)) && len(r.donors(t)) > 0:
		return "exploiting"
	case rank < k && !math.IsInf(t.loss, 1) && (t.saved == 0 || e.Iteration > t.saved+r.interval):
		return "saving"
	}
	return ""
}

// paused: a trial never waits, neither for another's checkpoint nor for anything else.
func (r *referee) paused(t *standing, got []sdk.Command) error {
	if len(got) != 1 || got[0].Trial != t.trial || got[0].Reason == "" {
		return fmt.Errorf("commands to the paused trial %d: %+v", t.trial, got)
	}
	donors, c := r.donors(t), got[0]
	exploits := t.phase == "exploiting" && len(donors) > 0
	t.phase = ""
	if !exploits {
		if c.Kind != sdk.Resume {
			return fmt.Errorf("%+v, want it resumed", c)
		}
		return nil
	}
	i := slices.IndexFunc(donors, func(d *standing) bool { return d.trial == c.Donor })
	if c.Kind != sdk.Exploit || i < 0 || donors[i].saved != c.Iteration {
		return fmt.Errorf("%+v, want one of %d donors", c, len(donors))
	}
	t.point, t.next, t.saved, t.told, t.ranked = c.Point, c.Iteration+r.interval, 0, false, false
	return explored(donors[i].point, c.Point)
}

// explored checks a point that nothing was resampled in: numbers and ordinals have
// moved, and choices have not.
func explored(from, to space.Point) error {
	if err := schedtest.Mixed.Check(to); err != nil {
		return err
	}
	for i, p := range schedtest.Mixed.Params {
		if i < 7 && (from[i] == to[i]) != (p.Kind == space.Choice) {
			return fmt.Errorf("%s is %v after %v", p.Name, to[i], from[i])
		}
	}
	return nil
}

func TestAgainstLookingThroughAll(t *testing.T) {
	exploits := 0
	rapid.Check(t, func(t *rapid.T) {
		sim := drawSim(t)
		r := referee{
			interval: rapid.Uint64Range(1, 4).Draw(t, "interval"),
			quantile: rapid.SampledFrom([]float64{0.1, 0.25, 0.3, 0.5}).Draw(t, "quantile"),
			trials:   map[uint32]*standing{},
		}
		options := fmt.Sprintf(`{"interval": %d, "quantile": %v, "resample": 0}`, r.interval, r.quantile)
		h, err := sim.Run(schedtest.Checked(opened(t, sim.Trials, options), r.check))
		if err != nil {
			t.Fatal(err)
		}
		exploits += h.Count(sdk.Exploit)
	})
	if exploits == 0 {
		t.Error("nothing was exploited")
	}
}
