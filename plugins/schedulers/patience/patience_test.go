package patience

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-010, B-015
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, &space.Space{}, "testdata")
}

func TestBatchingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		losses := rapid.SliceOfN(rapid.Float64Range(0, 1), 23, 23).Draw(t, "losses")
		drawn := 0
		sim := schedtest.Sim{
			Trials: 9, Workers: 3, Length: 9, Burst: 3,
			Loss: func(trial uint32, iteration uint64) float64 { return losses[(uint64(trial)*5+iteration)%23] },
			Pick: func(n int) int { drawn++; return int(losses[drawn%23]*1000) % n },
		}
		first, _, err := Plugin.Open(schedtest.Problem(9), []byte(`{"patience": 2}`))
		if err != nil {
			t.Fatal(err)
		}
		h, err := sim.Run(first)
		if err != nil {
			t.Fatal(err)
		}
		second, _, _ := Plugin.Open(schedtest.Problem(9), []byte(`{"patience": 2}`))
		if err := schedtest.Cuts(second, h, sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

// oracle is a second implementation of the rule: it stores all results and examines them each time.
type oracle struct {
	patience, grace uint64
	delta           float64
	limit           *float64
	told            map[uint32][]sdk.Event
	ended           map[uint32]bool
}

func (o *oracle) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, _ error) {
	for _, e := range events {
		had := o.told[e.Trial]
		switch {
		case e.Kind == sdk.TrialCompleted, e.Kind == sdk.TrialFailed:
			o.ended[e.Trial] = true
		case e.Kind == sdk.ResultReported && !o.ended[e.Trial]:
			o.told[e.Trial] = append(had, e)
			d := sdk.Decision{Event: e.Number}
			if o.gaveUp(e, o.told[e.Trial]) {
				d.Verdict, o.ended[e.Trial] = sdk.Stop, true
			}
			out.Decisions = append(out.Decisions, d)
		}
	}
	return out, nil
}

func (o *oracle) gaveUp(e sdk.Event, all []sdk.Event) bool {
	best, at := math.Inf(1), uint64(0)
	for _, x := range all {
		if loss := x.Losses[0]; !math.IsInf(loss, 1) && (math.IsInf(best, 1) || best-loss > o.delta) {
			best, at = loss, x.Iteration
		}
	}
	beyond := o.limit != nil && e.Losses[0] > *o.limit
	return e.Iteration >= o.grace && (beyond || e.Iteration-at >= o.patience)
}

func TestAgainstLookingThroughAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := &oracle{patience: rapid.Uint64Range(1, 5).Draw(t, "patience"),
			grace: rapid.Uint64Range(1, 6).Draw(t, "grace"),
			delta: rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t,
				"delta"), told: map[uint32][]sdk.Event{}, ended: map[uint32]bool{}}
		options := fmt.Sprintf(`{"patience": %d, "grace": %d, "min_delta": %v}`, o.patience, o.grace, o.delta)
		if rapid.Bool().Draw(t, "limited") {
			limit := float64(rapid.IntRange(2, 7).Draw(t, "limit"))
			o.limit = &limit
			options = fmt.Sprintf(`{"patience": %d, "grace": %d, "min_delta": %v, "limit": %v}`, o.patience, o.grace,
				o.delta, limit)
		}
		losses := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, 4, 4.5, 5, 6, 7, math.Inf(1)}), 97, 97).Draw(t,
			"losses")
		picks, drawn := rapid.SliceOfN(rapid.IntRange(0, 1000), 31, 31).Draw(t, "picks"), 0
		sim := schedtest.Sim{
			Trials: rapid.IntRange(1, 12).Draw(t, "trials"), Workers: 3, Length: 15, Burst: 3,
			Loss:  func(trial uint32, iteration uint64) float64 { return losses[(uint64(trial)*31+iteration*7)%97] },
			Fails: func(trial uint32, iteration uint64) bool { return picks[(uint64(trial)*29+iteration)%31] < 20 },
			Step:  func(trial uint32) uint64 { return 1 + uint64(trial%3) },
			Pick:  func(n int) int { drawn++; return picks[drawn%31] % n },
		}
		s, _, err := Plugin.Open(schedtest.Problem(sim.Trials), []byte(options))
		if err != nil {
			t.Fatal(err)
		}
		h, err := sim.Run(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := schedtest.Cuts(o, h.WithoutReasons(), sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"patience": 2}`, `{"patience": 2, "limit": 2}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}
