package auto

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-010, B-015, B-019, B-153
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, &space.Space{}, "testdata")
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{}`, `{"max": 9}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}

func TestEveryTrialEnds(t *testing.T) {
	schedtest.Brackets(t, Plugin, `{}`)
	schedtest.Brackets(t, Plugin, `{"max": 9}`)
}

// train runs trials of 27 iterations whose early losses order the final ones as agree says: 1 as
// they are, 0 not at all. It returns the iterations that were trained, and how many of the trials
// after the first 40 were stopped.
func train(t *testing.T, agree float64, trials int) (iterations, stopped int) {
	t.Helper()
	uniform := func(a, b uint64) float64 { return float64(mix(mix(a)+b)>>11) / (1 << 53) }
	sim := schedtest.Sim{
		Trials: trials, Workers: 4, Length: 27, Burst: 1,
		Loss: func(trial uint32, iteration uint64) float64 {
			noise := (1 - agree) * (1 - float64(iteration)/27)
			return float64((1-noise)*uniform(uint64(trial), 0)) + float64(noise*uniform(uint64(trial), iteration))
		},
		Pick: func(n int) int { return n - 1 },
	}
	h := sim.Ends(t, func() sdk.Scheduler { return schedtest.Open(t, Plugin, schedtest.Problem(trials), `{}`) })
	for trial, end := range h.Ends {
		if trial >= 40 && end.Iteration < 27 {
			stopped++
		}
	}
	return h.Iterations, stopped
}

// B-153
func TestStopsAsHardAsTheOrderHolds(t *testing.T) {
	const n = 400
	hard, _ := train(t, 1, n)
	if most := n * 27 / 4; hard > most {
		t.Errorf("with perfect order it trains %d iterations, at most %d are wanted", hard, most)
	}
	if half, _ := train(t, 0.5, n); half <= hard {
		t.Errorf("with half the order it trains %d iterations, with all %d", half, hard)
	}
}

// B-153: where early values do not order final ones, no trial is stopped once that is known.
func TestStopsNothingWithoutOrder(t *testing.T) {
	uniform := func(a, b uint64) float64 { return float64(mix(mix(a)+b)>>11) / (1 << 53) }
	sim := schedtest.Sim{
		Trials: 300, Workers: 4, Length: 27, Burst: 1,
		Loss: func(trial uint32, iteration uint64) float64 {
			return uniform(uint64(trial), min(1, iteration/27)) // the final loss has nothing to do with the others
		},
		Pick: func(n int) int { return n - 1 },
	}
	h := sim.Ends(t, func() sdk.Scheduler { return schedtest.Open(t, Plugin, schedtest.Problem(0), `{}`) })
	late := 0
	for trial, end := range h.Ends {
		if trial >= 100 && end.Iteration < 27 {
			late++
		}
	}
	if late > 0 {
		t.Errorf("%d of the last 200 trials were stopped by values that say nothing", late)
	}
}

// A tenth of the first trials are spared, and less and less of the later ones, but never none.
func TestSpared(t *testing.T) {
	count := func(seed uint64, from, to uint32) (n float64) {
		for trial := from; trial < to; trial++ {
			if spared(seed, trial) {
				n++
			}
		}
		return n
	}
	early, late := 0.0, 0.0
	for seed := range uint64(1000) {
		if count(seed, 0, spareFirst) != spareFirst {
			t.Fatalf("seed %d does not spare the first trials", seed)
		}
		early, late = early+count(seed, 10, 20), late+count(seed, 1000, 2000)
	}
	for _, c := range []struct {
		name               string
		got, least, atMost float64
	}{
		{"of trials 10 to 19", early / 1000, 0.58, 0.7},
		{"of trials 1000 to 1999", late / 1000, 1.5, 1.9},
	} {
		if c.got < c.least || c.got > c.atMost {
			t.Errorf("%s it spares %.2f, want %.2f to %.2f", c.name, c.got, c.least, c.atMost)
		}
	}
}

func TestKept(t *testing.T) {
	for bound, want := range map[float64]float64{-1: 1, 0.29: 1, 0.5: 0.5, 0.61: 0.4, 0.9: 0.4, 1: 0.4} {
		if got := (trust{bound: bound}).kept(); got != want {
			t.Errorf("with a bound of %v %v go on, want %v", bound, got, want)
		}
	}
}

func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		early, final []float64
		want         float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{10, 20, 30, 40}, 1},
		{[]float64{1, 2, 3, 4}, []float64{9, 8, 7, math.Inf(-1)}, -1},
		// The example of Wikipedia's article on Spearman's coefficient: IQ and hours of television.
		{[]float64{106, 100, 86, 101, 99, 103, 97, 113, 112, 110}, []float64{7, 27, 2, 50, 28, 29, 20, 12, 6, 17},
			-29.0 / 165},
		{[]float64{1, 1, 2, math.Inf(1)}, []float64{1, 2, 2, 3}, 5.0 / 6},
		{[]float64{5, 5, 5}, []float64{1, 2, 3}, 0},
		{nil, nil, 0},
	} {
		var pairs []pair
		for i := range c.early {
			pairs = append(pairs, pair{c.early[i], c.final[i]})
		}
		if got := spearman(pairs); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v, %v: %v, want %v", c.early, c.final, got, c.want)
		}
	}
}

// The best half of normal numbers that correlate by 0.8 correlate by less; what is seen there gives
// the correlation of all.
func TestSelectionIsCorrected(t *testing.T) {
	rng := space.NewRand(1)
	normal := func() (sum float64) {
		for range 12 {
			sum += rng.Float64()
		}
		return sum - 6
	}
	all, best := rung{}, rung{}
	for range 2000 {
		x := normal()
		p := pair{x, float64(0.8*x) + float64(0.6*normal())}
		all.arrive(x)
		all.pairs = append(all.pairs, p)
		if x < 0 {
			best.pairs = append(best.pairs, p)
		}
	}
	best.arrived, best.sorted = all.arrived, all.sorted
	whole, half := spearman(all.pairs), spearman(best.pairs)
	corrected := widen(half, best.restriction())
	if half > whole-0.1 || math.Abs(corrected-whole) > 0.05 {
		t.Errorf("all %.3f, the best half %.3f, corrected %.3f", whole, half, corrected)
	}
}

func TestRungRemembersTheLatest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SampledFrom([]float64{1, 2, 3, math.Inf(1)})
		losses := rapid.SliceOfN(some, recent+20, recent+40).Draw(t, "losses")
		var r rung
		for _, x := range losses {
			r.arrive(x)
			r.learn(x, x)
		}
		want := slices.Clone(losses[len(losses)-recent:])
		slices.Sort(want)
		if !slices.Equal(r.sorted, want) || len(r.pairs) != ended || r.pairs[0].early != losses[len(losses)-ended] {
			t.Fatalf("%d sorted, %d pairs", len(r.sorted), len(r.pairs))
		}
	})
}

// Trials with other seeds are spared, and the same seed spares the same.
func TestSeedsDiffer(t *testing.T) {
	draw := func(seed uint64) (list []bool) {
		for trial := range uint32(300) {
			list = append(list, spared(seed, trial))
		}
		return list
	}
	if slices.Equal(draw(1), draw(2)) || !slices.Equal(draw(1), draw(1)) {
		t.Error("the spared trials do not depend on the seed alone")
	}
}

// BenchmarkResult measures one result at the first rung, with all that a rung remembers.
func BenchmarkResult(b *testing.B) {
	s := schedtest.Open(b, Plugin, schedtest.Problem(0), `{}`)
	n := uint64(0)
	tell := func(kind sdk.EventKind, trial uint32, iteration uint64) {
		n++
		e := sdk.Event{Number: n, Kind: kind, Trial: trial, Iteration: iteration,
			Losses: []float64{float64(mix(uint64(trial)) % 10_000)}}
		if _, err := s.Decide(b.Context(), []sdk.Event{e}); err != nil {
			b.Fatal(err)
		}
	}
	for trial := range uint32(2000) {
		tell(sdk.ResultReported, trial, 1)
		tell(sdk.TrialCompleted, trial, 3)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		tell(sdk.ResultReported, uint32(2000+i), 1)
	}
}
