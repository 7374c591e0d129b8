package median

import (
	"context"
	"fmt"
	"math"
	"slices"
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

// oracle is a second implementation of the rule: it stores all results and computes all means again
// for each result.
type oracle struct {
	grace   uint64
	min     int
	results map[uint32][]sdk.Event
	ended   map[uint32]bool
}

func (s *oracle) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, _ error) {
	for _, e := range events {
		if e.Kind == sdk.TrialCompleted || e.Kind == sdk.TrialFailed {
			s.ended[e.Trial] = true
		}
		if e.Kind != sdk.ResultReported || s.ended[e.Trial] {
			continue
		}
		d := sdk.Decision{Event: e.Number}
		if s.stops(e) {
			d.Verdict, s.ended[e.Trial] = sdk.Stop, true
		}
		out.Decisions = append(out.Decisions, d)
	}
	return out, nil
}

func (s *oracle) stops(e sdk.Event) bool {
	s.results[e.Trial] = append(s.results[e.Trial], e)
	if e.Iteration < s.grace {
		return false
	}
	best := math.Inf(1)
	for _, r := range s.results[e.Trial] {
		best = min(best, r.Losses[0])
	}
	var means []float64
	for trial, results := range s.results {
		if trial == e.Trial || results[len(results)-1].Iteration < e.Iteration {
			continue
		}
		if mean, ok := s.mean(results, e.Iteration); ok {
			means = append(means, mean)
		}
	}
	return math.IsInf(best, 1) || len(means) >= s.min && best > median(means)
}

func (s *oracle) mean(results []sdk.Event, until uint64) (mean float64, ok bool) {
	sum, n := 0.0, 0.0
	for _, r := range results {
		if r.Iteration >= s.grace && r.Iteration <= until {
			sum, n = sum+r.Losses[0], n+1
		}
	}
	return sum / n, n > 0
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[(len(x)-1)/2]/2 + x[len(x)/2]/2
}

func drawSim(t *rapid.T) schedtest.Sim {
	losses := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, 4, 5, 6, math.Inf(1)}), 97, 97).Draw(t, "losses")
	steps := rapid.SliceOfN(rapid.Uint64Range(1, 3), 7, 7).Draw(t, "steps")
	picks, drawn := rapid.SliceOfN(rapid.IntRange(0, 1000), 31, 31).Draw(t, "picks"), 0
	return schedtest.Sim{
		Trials:  rapid.IntRange(1, 20).Draw(t, "trials"),
		Workers: rapid.IntRange(1, 5).Draw(t, "workers"),
		Length:  8,
		Burst:   3,
		Loss:    func(trial uint32, iteration uint64) float64 { return losses[(uint64(trial)*31+iteration*7)%97] },
		Step:    func(trial uint32) uint64 { return steps[trial%7] },
		Pick:    func(n int) int { drawn++; return picks[drawn%31] % n },
	}
}

func TestAgainstRecomputing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grace, least := rapid.Uint64Range(1, 5).Draw(t, "grace"), rapid.IntRange(1, 4).Draw(t, "min_trials")
		options := fmt.Appendf(nil, `{"grace": %d, "min_trials": %d}`, grace, least)
		s, _, err := Plugin.Open(schedtest.Problem(0), options)
		if err != nil {
			t.Fatal(err)
		}
		sim := drawSim(t)
		h, err := sim.Run(s)
		if err != nil {
			t.Fatal(err)
		}
		slow := &oracle{grace: grace, min: least, results: map[uint32][]sdk.Event{}, ended: map[uint32]bool{}}
		if err := schedtest.Cuts(slow, h.WithoutReasons(), sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkResult(b *testing.B) {
	s, _, err := Plugin.Open(schedtest.Problem(0), []byte(`{"grace": 1}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	loss := []float64{0}
	for i := range b.N {
		loss[0] = float64(uint32(i) * 2654435761)
		e := sdk.Event{Number: uint64(i) + 1, Kind: sdk.ResultReported, Trial: uint32(i), Iteration: 1, Losses: loss}
		if _, err := s.Decide(b.Context(), []sdk.Event{e}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{}`, `{"grace": 1, "min_trials": 1}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}
