package wilcoxon

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

func TestChaos(t *testing.T) {
	for _, options := range []string{`{}`, `{"p_threshold": 1, "startup_folds": 1}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}

// flipped is a second implementation of the test: it tries every sign assignment, and counts every
// rank.
func flipped(d []float64) float64 {
	ranks, observed := make([]float64, len(d)), 0.0
	for i := range d {
		ranks[i] = 0.5
		for j := range d {
			switch a, b := math.Abs(d[i]), math.Abs(d[j]); {
			case b < a:
				ranks[i]++
			case b == a:
				ranks[i] += 0.5
			}
		}
		if d[i] > 0 {
			observed += ranks[i]
		}
	}
	extreme := 0.0
	for signs := range 1 << len(d) {
		sum := 0.0
		for i := range d {
			if signs>>i&1 == 1 && d[i] != 0 {
				sum += ranks[i]
			}
		}
		if sum >= observed {
			extreme++
		}
	}
	return extreme / float64(int(1)<<len(d))
}

func TestAgainstAllSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.SampledFrom([]float64{-3, -2, -1, 0, 1, 2, 3, 4, 5.5, math.Inf(1)}), 0, 9).Draw(t,
			"d")
		if got, want := greater(d), flipped(d); math.Abs(got-want) > 1e-12 {
			t.Fatalf("p of %v is %v, want %v", d, got, want)
		}
	})
}

// Known values: one-sided, n(n+1)/2 − W of the tables.
func TestKnownTails(t *testing.T) {
	for _, c := range []struct {
		d    []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, 1. / 16},
		{[]float64{-1, 2, 3, 4, 5}, 2. / 32},
		{[]float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}, 0.02062988}, // Darwin's plants
		{[]float64{0, 0, 0}, 1},
		{nil, 1},
	} {
		if got := greater(c.d); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("p of %v is %v, want %v", c.d, got, c.want)
		}
	}
}

// Where both apply, the normal distribution is close to the exact one.
func TestNormalIsNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.SampledFrom([]float64{-4, -3, -2, -1, 1, 2, 3, 4, 5, 6}), 20, 25).Draw(t, "d")
		ranks, sum := ranked(d)
		if a, b := tail(ranks, sum), normal(ranks, sum); math.Abs(a-b) > 0.03 {
			t.Fatalf("p of %v is %v exactly, %v by the normal distribution", d, a, b)
		}
	})
}

// oracle is a second implementation of the rule: it stores everything and examines it each time.
type oracle struct {
	threshold float64
	startup   int
	losses    map[uint32]map[uint64]float64
	ended     map[uint32]bool
	complete  []uint32
}

func (s *oracle) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, _ error) {
	for _, e := range events {
		switch e.Kind {
		case sdk.TrialCompleted:
			if !s.ended[e.Trial] && len(s.losses[e.Trial]) > 0 {
				s.complete = append(s.complete, e.Trial)
			}
			s.ended[e.Trial] = true
		case sdk.TrialFailed:
			s.ended[e.Trial] = true
		case sdk.ResultReported:
			if s.ended[e.Trial] {
				continue
			}
			if s.losses[e.Trial] == nil {
				s.losses[e.Trial] = map[uint64]float64{}
			}
			s.losses[e.Trial][e.Iteration] = e.Losses[0]
			d := sdk.Decision{Event: e.Number}
			if s.stops(e.Trial) {
				d.Verdict, s.ended[e.Trial] = sdk.Stop, true
			}
			out.Decisions = append(out.Decisions, d)
		}
	}
	return out, nil
}

func (s *oracle) stops(trial uint32) bool {
	best, most, least := -1, 0, 0.0
	for _, c := range s.complete {
		sum := 0.0
		for i := range uint64(50) {
			sum += s.losses[c][i]
		}
		if n := len(s.losses[c]); n > most || n == most && sum < least {
			best, most, least = int(c), n, sum
		}
	}
	var d []float64
	own, other := 0.0, 0.0
	for i := range uint64(50) {
		a, has := s.losses[trial][i]
		b, both := s.losses[uint32(max(best, 0))][i]
		if best < 0 || !has || !both {
			continue
		}
		own, other = own+a, other+b
		if a == b {
			d = append(d, 0)
		} else {
			d = append(d, a-b)
		}
	}
	return len(d) >= s.startup && own > other && flipped(d) < s.threshold
}

func drawSim(t *rapid.T) schedtest.Sim {
	sim := schedtest.DrawSim(t, schedtest.Limits{Trials: 20, Length: 8})
	sim.Length, sim.Step = 8, schedtest.DrawSteps(t, 2)
	drawn := sim.Loss
	sim.Loss = func(trial uint32, iteration uint64) float64 {
		if iteration == 0 {
			return 0
		}
		return drawn(trial, iteration) + 2*float64(trial%3)
	}
	return sim
}

func TestAgainstRecomputing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold, startup := rapid.SampledFrom([]float64{0.05, 0.1, 0.3, 1}).Draw(t, "threshold"), rapid.IntRange(1,
			4).Draw(t, "startup")
		s, _, err := Plugin.Open(schedtest.Problem(0),
			fmt.Appendf(nil, `{"p_threshold": %v, "startup_folds": %d}`, threshold, startup))
		if err != nil {
			t.Fatal(err)
		}
		sim := drawSim(t)
		h, err := sim.Run(s)
		if err != nil {
			t.Fatal(err)
		}
		slow := &oracle{threshold: threshold, startup: startup, losses: map[uint32]map[uint64]float64{},
			ended: map[uint32]bool{}}
		if err := schedtest.Cuts(slow, h.WithoutReasons(), sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkResult(b *testing.B) {
	for _, folds := range []uint64{10, 100} {
		b.Run(fmt.Sprint(folds), func(b *testing.B) {
			s, _, err := Plugin.Open(schedtest.Problem(0), []byte(`{"p_threshold": 1e-300}`))
			if err != nil {
				b.Fatal(err)
			}
			number := uint64(0)
			tell := func(e sdk.Event) {
				number++
				e.Number = number
				if _, err := s.Decide(b.Context(), []sdk.Event{e}); err != nil {
					b.Fatal(err)
				}
			}
			for i := range b.N {
				trial, fold := uint32(uint64(i)/folds), uint64(i)%folds+1
				tell(sdk.Event{Kind: sdk.ResultReported, Trial: trial, Iteration: fold,
					Losses: []float64{float64(uint32(i) * 2654435761)}})
				if fold == folds {
					tell(sdk.Event{Kind: sdk.TrialCompleted, Trial: trial, Iteration: fold})
				}
			}
		})
	}
}
