package moasha

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	single "github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-010, B-015
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, &space.Space{}, "testdata")
}

func two() sdk.Problem {
	p := schedtest.Problem(5)
	p.Objectives = append(p.Objectives, sdk.Objective{Metric: "latency", Mode: sdk.Max})
	return p
}

func TestChaos(t *testing.T) {
	schedtest.Chaos(t, Plugin, schedtest.Problem(5), `{"max": 9}`)
	schedtest.Chaos(t, Plugin, two(), `{"max": 9, "reduction_factor": 2}`)
}

func drawSim(t *rapid.T) schedtest.Sim {
	sim := schedtest.DrawSim(t, schedtest.Limits{Trials: 30, Length: 30, Failing: 20})
	sim.Step = schedtest.DrawSteps(t, 3)
	return sim
}

// With one objective it equals asha.
func TestOneObjectiveIsASHA(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Uint64Range(1, 30).Draw(t, "max")
		options := fmt.Appendf(nil, `{"max": %d, "grace": %d, "reduction_factor": %d}`,
			most, rapid.Uint64Range(1, most).Draw(t, "grace"), rapid.IntRange(2, 5).Draw(t, "factor"))
		sim := drawSim(t)
		h, err := sim.Run(open1(t, Plugin, options))
		if err != nil {
			t.Fatal(err)
		}
		want, err := open1(t, single.Plugin, options).Decide(t.Context(), h.Events)
		if err != nil {
			t.Fatal(err)
		}
		other := schedtest.History{Events: h.Events, Out: want}.WithoutReasons()
		if err := schedtest.Cuts(bare{open1(t, Plugin, options)}, other, sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

// bare removes the reasons.
type bare struct{ sdk.Scheduler }

func (s bare) Decide(ctx context.Context, events []sdk.Event) (sdk.Decisions, error) {
	out, err := s.Scheduler.Decide(ctx, events)
	return schedtest.History{Out: out}.WithoutReasons().Out, err
}

func open1(t *rapid.T, plugin sdk.SchedulerPlugin, options []byte) sdk.Scheduler {
	s, _, err := plugin.Open(schedtest.Problem(0), options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// peel is a second implementation of the layers: repeatedly removes the vectors that none of the
// rest dominates.
func peel(rest layer) (all layers) {
	for len(rest) > 0 {
		var group, behind layer
		for _, v := range rest {
			if slices.ContainsFunc(rest, func(w vector) bool { return w.dominates(v) }) {
				behind = append(behind, v)
			} else {
				group = append(group, v)
			}
		}
		all, rest = append(all, group), behind
	}
	return all
}

func canonical(all layers) string {
	for _, group := range all {
		slices.SortFunc(group, compare)
	}
	return fmt.Sprint(all)
}

func TestLayersAgainstPeeling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 3).Draw(t, "objectives")
		var l layers
		var told []vector
		for i := range rapid.IntRange(1, 40).Draw(t, "n") {
			v := make(vector, size)
			for m := range v {
				v[m] = float64(rapid.IntRange(0, 6).Draw(t, fmt.Sprint("loss ", i)))
			}
			at := l.add(v)
			told = append(told, v)
			if !slices.IsSortedFunc(l[at], compare) {
				t.Fatalf("%v is in no order", l[at])
			}
			if got, want := canonical(slices.Clone(l)), canonical(peel(told)); got != want {
				t.Fatalf("after %v: %s, want %s", v, got, want)
			}
			if !slices.ContainsFunc(l[at], func(w vector) bool { return slices.Equal(v, w) }) {
				t.Fatalf("%v is not in layer %d of %v", v, at, l)
			}
		}
	})
}

// The ε-net of a line: its best by the first loss, the other end, and then always the middle of the
// widest gap; equal ones continue together.
func TestNet(t *testing.T) {
	group := layer{{0, 10}, {1, 9}, {3, 7}, {5, 5}, {5, 5}, {9, 1}, {10, 0}}
	for place, at := range []int{0, 6, 3, 4, 2, 1, 5} {
		for k := range 9 {
			want := k > place || at == 4 && k == 3 // the second {5, 5} continues with the first
			if got := group.among(group[at], k); got != want {
				t.Errorf("%v among the first %d: %v", group[at], k, got)
			}
		}
	}
}

// Along a line of two losses the faster algorithm gives the same net.
func TestGapsAgainstPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l layers
		for i := range rapid.IntRange(1, 40).Draw(t, "n") {
			l.add(vector{float64(rapid.IntRange(0, 40).Draw(t, fmt.Sprint("x", i))),
				float64(rapid.IntRange(0, 40).Draw(t, fmt.Sprint("y", i)))})
		}
		points := measured(slices.CompactFunc(l[0], func(a, b vector) bool { return slices.Equal(a, b) }))
		slow, fast := points.far(), points.gaps()
		for place := range points.layer {
			if want, got := slow(), fast(); got != want {
				t.Fatalf("place %d of %v: %d, want %d", place, points.layer, got, want)
			}
		}
	})
}

// With three objectives the expected number continues.
func TestAsManyAsThereIsRoomFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l layers
		for i := range rapid.IntRange(1, 30).Draw(t, "n") {
			l.add(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
				return float64(rapid.IntRange(0, 9).Draw(t,
					"loss"))
			}), 3, 3).Draw(t, fmt.Sprint("vector ", i)))
		}
		group := l[0]
		k := rapid.IntRange(0, len(group)).Draw(t, "places")
		n, copied := 0, 0
		for _, v := range group {
			if group.among(v, k) {
				n++
			}
			copied = max(copied, copies(group, v))
		}
		if n < k || n > k+copied {
			t.Fatalf("%d of %v go on, want %d", n, group, k)
		}
	})
}

// BenchmarkResult measures a result among n recorded at the rung: with scattered losses, and with a
// trade-off in which none dominates another.
func BenchmarkResult(b *testing.B) {
	scattered := func(i uint32) []float64 { return []float64{float64(i * 2654435761), float64(i * 2246822519)} }
	front := func(i uint32) []float64 { return []float64{float64(i * 2654435761), -float64(i * 2654435761)} }
	for name, losses := range map[string]func(uint32) []float64{"scattered": scattered, "front": front} {
		for _, n := range []int{1e3, 1e4} {
			benchmark(b, name, n, losses)
		}
	}
}

func benchmark(b *testing.B, name string, n int, losses func(uint32) []float64) {
	b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
		for done := 0; done < b.N; done += n {
			s, _, err := Plugin.Open(two(), nil)
			if err != nil {
				b.Fatal(err)
			}
			for i := range min(n, b.N-done) {
				e := sdk.Event{Number: uint64(i) + 1, Kind: sdk.ResultReported, Trial: uint32(i), Iteration: 1,
					Losses: losses(uint32(i))}
				if _, err := s.Decide(b.Context(), []sdk.Event{e}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
