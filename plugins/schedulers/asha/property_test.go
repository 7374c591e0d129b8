package asha

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func drawOptions(t *rapid.T) options {
	o := options{
		Max:      uint64(rapid.IntRange(1, 40).Draw(t, "max")),
		Factor:   uint64(rapid.IntRange(2, 5).Draw(t, "factor")),
		Type:     rapid.SampledFrom([]string{stopping, promotion}).Draw(t, "type"),
		Brackets: 1,
	}
	o.Grace = uint64(rapid.IntRange(1, int(o.Max)).Draw(t, "grace"))
	return o
}

func drawSim(t *rapid.T, o options) schedtest.Sim {
	seed := rapid.Uint64().Draw(t, "seed")
	hash := func(a, b uint64) uint64 { return mix(seed + mix(a<<32+b)) }
	failing := rapid.Bool().Draw(t, "failing")
	drawn := uint64(0)
	return schedtest.Sim{
		Trials:  rapid.IntRange(1, 30).Draw(t, "trials"),
		Workers: rapid.IntRange(1, 6).Draw(t, "workers"),
		Length:  o.Max + uint64(rapid.IntRange(-1, 3).Draw(t, "longer")),
		Burst:   rapid.IntRange(1, 4).Draw(t, "burst"),
		Loss: func(trial uint32, iteration uint64) float64 {
			if x := hash(uint64(trial), iteration) % 12; x > 0 { // ties are frequent
				return float64(x)
			}
			return math.Inf(1)
		},
		Fails: func(trial uint32, iteration uint64) bool {
			return failing && hash(uint64(trial)+99, iteration)%16 == 0
		},
		Step: func(trial uint32) uint64 { return 1 + hash(uint64(trial), 1<<31)%3 },
		Pick: func(n int) int { drawn++; return int(hash(drawn, 1<<30) % uint64(n)) },
	}
}

func (o options) open(t *rapid.T, trials int) sdk.Scheduler {
	s, _, err := Plugin.Open(schedtest.Problem(trials), declared.JSON(o))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		sim := drawSim(t, o)
		h, err := sim.Run(o.open(t, sim.Trials))
		if err != nil {
			t.Fatal(err)
		}
		if err := schedtest.Cuts(newOracle(o, sim.Trials), h.WithoutReasons(), sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

// Decisions depend on the events, not on their batches.
func TestBatchingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		o.Brackets = rapid.IntRange(1, len(rungs(o))).Draw(t, "brackets")
		sim := drawSim(t, o)
		h, err := sim.Run(o.open(t, sim.Trials))
		if err != nil {
			t.Fatal(err)
		}
		if err := schedtest.Cuts(o.open(t, sim.Trials), h, sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

// From every state the experiment ends: no trial stays paused, and none trains beyond max.
func TestEveryTrialEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		sim := drawSim(t, o)
		planned := sim.Trials
		if sim.SearchEnds = rapid.Bool().Draw(t, "search ends"); sim.SearchEnds {
			planned = 0
		}
		h, err := sim.Run(o.open(t, planned))
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Ends) != sim.Trials {
			t.Fatalf("%d of %d trials ended", len(h.Ends), sim.Trials)
		}
	})
}

func TestRungsAreExact(t *testing.T) {
	for _, c := range []struct {
		grace, max, factor uint64
		want               []uint64
	}{
		{1, 1000, 10, []uint64{1, 10, 100, 1000}},
		{1, 243, 3, []uint64{1, 3, 9, 27, 81, 243}},
		{1, 125, 5, []uint64{1, 5, 25, 125}},
		{1, 100, 4, []uint64{1, 4, 16, 64}},
		{2, 100, 3, []uint64{2, 6, 18, 54}},
		{7, 7, 2, []uint64{7}},
		{1 << 52, 1 << 53, 2, []uint64{1 << 52, 1 << 53}},
	} {
		if got := rungs(options{Grace: c.grace, Max: c.max, Factor: c.factor}); !slices.Equal(got, c.want) {
			t.Errorf("(%d, %d, %d): %v, want %v", c.grace, c.max, c.factor, got, c.want)
		}
	}
}

// Brackets get trials in Hyperband's proportions: 81, 135/4, 15, 15/2 and 5 for (81, 3).
func TestBracketShares(t *testing.T) {
	brackets := makeBrackets(options{Max: 81, Grace: 1, Factor: 3, Brackets: 5})
	const n = 100_000
	var counts [5]float64
	for trial := range uint32(n) {
		counts[draw(brackets, 1, trial)]++
	}
	want := [5]float64{81, 33.75, 15, 7.5, 5}
	total := 81 + 33.75 + 15 + 7.5 + 5
	for i := range want {
		if share := want[i] / total; math.Abs(counts[i]/n-share) > 0.01 {
			t.Errorf("bracket %d has %.3f of the trials, want %.3f", i, counts[i]/n, share)
		}
	}
}

// BenchmarkResult measures one result at the first rung, with that many earlier trials.
func BenchmarkResult(b *testing.B) {
	for _, kind := range []string{stopping, promotion} {
		for _, n := range []int{1e3, 1e6} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) { benchmark(b, kind, n) })
		}
	}
}

func benchmark(b *testing.B, kind string, n int) {
	events := make([]sdk.Event, n)
	for i := range events {
		loss := float64(mix(uint64(i)) >> 11)
		events[i] = sdk.Event{Number: uint64(i) + 1, Kind: sdk.ResultReported, Trial: uint32(i), Iteration: 1,
			Losses: []float64{loss}}
	}
	b.ReportAllocs()
	for done := 0; done < b.N; done += n {
		b.StopTimer()
		s, _, err := Plugin.Open(schedtest.Problem(0), []byte(`{"type": "`+kind+`"}`))
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for i := range events[:min(n, b.N-done)] {
			if _, err := s.Decide(b.Context(), events[i:i+1]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
