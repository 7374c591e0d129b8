package cmaes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/sdktest"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

var nan, inf = math.NaN(), math.Inf(1)

func mustOpen(t testing.TB, s *space.Space, options string) *searcher {
	t.Helper()
	return Open(t, Plugin, s, options, 1).(*searcher)
}

func TestInfo(t *testing.T) {
	if err := sdktest.CheckInfo(Plugin.Info, sdk.KindSearcher); err != nil {
		t.Error(err)
	}
}

// B-102: told the history, however cut into batches, a new searcher goes on as the
// old one: the same bits. Requests may be put together in any way.
func TestRestoredGoesOn(t *testing.T) {
	for name, sp := range map[string]*space.Space{"every form": EveryForm(), "tree": Tree()} {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			options := rapid.SampledFrom([]string{"{}", `{"adapt": true}`}).Draw(rt, "options")
			events, requests, points := story(t, sp, options, rapid.Uint64().Draw(rt, "seed"))
			cut := rapid.IntRange(0, len(events)).Draw(rt, "cut")
			fresh := mustOpen(t, sp, options)
			for _, e := range events[:cut] {
				Observe(t, fresh, e)
			}
			Observe(t, fresh, events[cut:]...)
			if again := Suggest(t, fresh, requests...).Points; fmt.Sprint(again) != fmt.Sprint(points) {
				rt.Fatalf("%v, but restarted %v", points, again)
			}
		}))
	}
}

// story is what happens to a searcher with trials that run at the same time, fail,
// pause and go on; and its answers to requests at the end, one by one.
func story(t *testing.T, sp *space.Space, options string, seed uint64) (events []sdk.Event, requests []sdk.Request, points []space.Point) {
	t.Helper()
	s := mustOpen(t, sp, options)
	rng := space.NewRand(seed)
	tell := func(e sdk.Event) {
		e.Number = uint64(len(events) + 1)
		events = append(events, e)
		Observe(t, s, e)
	}
	var running []int
	for n := range 80 {
		p := Suggest(t, s, sdk.Request{Trial: uint32(n), Seed: rng.Uint64()}).Points[0]
		tell(Added(n, p))
		running = append(running, n)
		for len(running) > rng.IntN(20) {
			k := rng.IntN(len(running))
			tell(someEvent(rng, running[k]))
			running = slices.Delete(running, k, k+1)
		}
	}
	for n := range 3 {
		r := sdk.Request{Trial: uint32(80 + n), Seed: rng.Uint64()}
		requests = append(requests, r)
		points = append(points, Suggest(t, s, r).Points...)
	}
	return events, requests, points
}

func someEvent(rng *rand.Rand, trial int) sdk.Event {
	e := Completed(trial, rng.Float64())
	switch rng.IntN(8) {
	case 0:
		e.Kind, e.Losses = sdk.TrialFailed, nil
	case 1:
		e.Kind = sdk.TrialPaused
	case 2:
		e.Kind, e.Losses = sdk.TrialRemoved, nil
	case 3:
		e.Losses = []float64{inf}
	}
	return e
}

// The bits of suggestions are the same on every machine.
func TestBits(t *testing.T) {
	hash := fnv.New64a()
	for _, options := range []string{"{}", `{"adapt": true}`} {
		for _, p := range Run(t, mustOpen(t, EveryForm(), options), EveryForm(), 1, 80, 1, func(p space.Point) []float64 { return []float64{p[0] * p[9]} }) {
			for _, x := range p {
				_ = binary.Write(hash, binary.BigEndian, x)
			}
		}
	}
	if got := hash.Sum64(); got != 0x838a5efd814ed4ea {
		t.Errorf("%#x", got)
	}
}

// Nothing to learn from, or nothing but trouble: it goes on.
func TestOddResults(t *testing.T) {
	for name, f := range map[string]func(space.Point) []float64{
		"constant":  func(space.Point) []float64 { return []float64{1} },
		"infinite":  func(space.Point) []float64 { return []float64{inf} },
		"NaN":       func(space.Point) []float64 { return []float64{nan} },
		"huge":      func(p space.Point) []float64 { return []float64{math.Copysign(math.MaxFloat64, p[0])} },
		"none":      func(space.Point) []float64 { return nil },
		"sometimes": func(p space.Point) []float64 { return []float64{max(p[0], inf*math.Trunc(p[4]/20))} },
	} {
		t.Run(name, func(t *testing.T) {
			if points := Run(t, mustOpen(t, EveryForm(), "{}"), EveryForm(), 1, 300, 1, f); len(points) != 300 {
				t.Errorf("%d points", len(points))
			}
		})
	}
}

// The region where trials fail is left, and generations wait for results.
func TestFailuresAreBad(t *testing.T) {
	sp := Reals(2, 0, 1)
	s := mustOpen(t, sp, "{}")
	failed := 0
	for i := range 150 {
		p := Suggest(t, s, Request(5, i)).Points[0]
		Observe(t, s, Added(i, p))
		if p[0] > 0.5 { // and it gets better towards it
			Observe(t, s, sdk.Event{Kind: sdk.TrialFailed, Trial: uint32(i)})
			if p[0] > 0.6 {
				failed++
			}
		} else {
			Observe(t, s, Completed(i, -p[0]))
		}
	}
	if failed > 40 {
		t.Errorf("%d of 150 trials failed and were not at the edge", failed)
	}
}

// With as many trials at a time as two generations have it still finds its way.
func TestPending(t *testing.T) {
	mean := 0.0
	for run := range 6 {
		low := inf
		Run(t, mustOpen(t, Reals(6, 0, 1), "{}"), Reals(6, 0, 1), run, 300, 16, func(p space.Point) []float64 {
			low = min(low, Hartmann6(p))
			return []float64{Hartmann6(p)}
		})
		mean += low / 6
	}
	if t.Logf("%.3f", mean); mean > -3.0 {
		t.Errorf("%.3f; the best is -3.322", mean)
	}
}

func TestObserveMessages(t *testing.T) {
	s := mustOpen(t, Reals(1, 0, 1), "{}")
	Observe(t, s, Added(0, space.Point{0}))
	for want, e := range map[string]sdk.Event{
		"trial 3 has 2 values; the space has 1 parameters":         Added(3, space.Point{1, 2}),
		"a result of trial 0 has 2 losses; there are 1 objectives": Completed(0, 1, 2),
	} {
		if err := s.Observe(context.Background(), []sdk.Event{e}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// One trial is enough, and a space may have no parameters, one value or nothing but
// choices.
func TestSmall(t *testing.T) {
	choice := space.Param{Name: "b", Kind: space.Choice, Choices: [][]byte{[]byte("1")}}
	single := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Real, Low: 3, High: 3}, choice}}
	choice.Choices = append(choice.Choices, []byte("2"))
	choices := &space.Space{Params: []space.Param{choice}}
	for _, c := range []struct {
		space *space.Space
		want  int
	}{{Reals(1, 0, 1), 30}, {Reals(1, 1e300, 1.1e300), 30}, {&space.Space{}, 30}, {single, 1}, {choices, 2}} {
		points := Run(t, mustOpen(t, c.space, `{"startup": 1, "population": 3}`), c.space, 2, 30, 1, func(space.Point) []float64 { return []float64{3} })
		if len(points) != c.want {
			t.Errorf("%d points, want %d", len(points), c.want)
		}
	}
}

// mixed has n parameters: reals, logarithms, integers, choices.
func mixed(n int) *space.Space {
	s := &space.Space{}
	for i := range n {
		p := space.Param{Name: fmt.Sprint("p", i), Kind: space.Real, Low: 1e-5, High: 1}
		switch i % 4 {
		case 1:
			p.Log = true
		case 2:
			p.Kind, p.Low, p.High = space.Int, 1, 1000
		case 3:
			p.Kind, p.Choices = space.Choice, [][]byte{[]byte("1"), []byte("2"), []byte("3")}
		}
		s.Params = append(s.Params, p)
	}
	return s
}

func TestManyParameters(t *testing.T) {
	sp := mixed(500)
	first := func(p space.Point) []float64 { return []float64{p[0] + p[4] + p[8]} }
	if points := Run(t, mustOpen(t, sp, "{}"), sp, 3, 80, 1, first); len(points) != 80 {
		t.Errorf("%d points", len(points))
	}
}

// A logarithmic scale over 290 powers of ten.
func TestLogNearZero(t *testing.T) {
	sp := &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, Low: 1e-300, High: 1e-10, Log: true}}}
	got := Best(t, Plugin, Problem{Space: sp, Loss: func(p space.Point) float64 { return math.Abs(math.Log10(p[0]) + 200) }}, "{}", 3, 100)
	if got > 0.1 {
		t.Errorf("%.2f powers of ten off", got)
	}
}

// Steps that do not divide the range: the last value is the last multiple.
func TestSteps(t *testing.T) {
	sp := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Real, Low: 0.05, High: 1, Step: 0.3}, {Name: "b", Kind: space.Int, Low: 5, High: 99, Step: 10}, {Name: "c", Kind: space.Real, High: 1}}}
	got := Best(t, Plugin, Problem{Space: sp, Loss: func(p space.Point) float64 { return -p[0] - p[1]/90 + math.Abs(p[2]-0.3) }}, "{}", 3, 150)
	if got > -1.89 {
		t.Errorf("%.4f; the best is -1.9", got)
	}
}

func TestEachPointOnceThenExhausted(t *testing.T) {
	sp := &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Choice, Choices: [][]byte{[]byte("1"), []byte("2"), []byte("3")}},
		{Name: "b", Kind: space.Int, High: 9},
		{Name: "c", Kind: space.Int, High: 6, When: &space.Expr{Op: space.In, Param: 0, Set: []int{1}}},
	}}
	s := mustOpen(t, sp, "{}")
	seen := map[string]bool{}
	for _, p := range Run(t, s, sp, 4, 200, 1, func(p space.Point) []float64 { return p[1:2] }) {
		seen[fmt.Sprint(p)] = true
	}
	if len(seen) != 90 {
		t.Errorf("%d different points of 90", len(seen))
	}
	if answer := Suggest(t, s, Request(4, 300)); len(answer.Points) != 0 || answer.Status != sdk.Exhausted {
		t.Error(answer)
	}
	if n := len(Run(t, mustOpen(t, sp, `{"repeats": true}`), sp, 4, 120, 1, func(p space.Point) []float64 { return p[1:2] })); n != 120 {
		t.Errorf("%d points with repeats", n)
	}
}

// B-100, B-104: what is given stays.
func TestGiven(t *testing.T) {
	sp := Reals(2, 0, 1)
	s := mustOpen(t, sp, "{}")
	for i := range 60 {
		r := Request(6, i)
		r.Given = space.Point{[]float64{0.2, 0.8}[i%2], nan}
		p := Suggest(t, s, r).Points[0]
		if p[0] != r.Given[0] || !(p[1] >= 0 && p[1] <= 1) {
			t.Fatal(p)
		}
		Observe(t, s, Added(i, p), Completed(i, p[1]))
	}
	if _, err := s.Suggest(context.Background(), []sdk.Request{{Given: space.Point{9}}}); err == nil {
		t.Error("a given point of the wrong length")
	}
}

// Trials that are there at the beginning are where it begins.
func TestWarmStart(t *testing.T) {
	sp := Reals(3, 0, 1)
	s := mustOpen(t, sp, `{"startup": 40}`)
	rng := space.NewRand(4)
	for i := range 40 {
		p := sp.Draw(rng)
		if i == 17 {
			p = space.Point{0.9, 0.1, 0.7}
		}
		Observe(t, s, Added(i, p), Completed(i, math.Hypot(p[0]-0.9, p[1]-0.1)+math.Abs(p[2]-0.7)))
	}
	near := 0
	for i := range 50 {
		if p := Suggest(t, s, Request(1, 40+i)).Points[0]; math.Abs(p[0]-0.9) < 0.3 && math.Abs(p[1]-0.1) < 0.3 && math.Abs(p[2]-0.7) < 0.3 {
			near++
		}
	}
	if near < 25 { // random: 9
		t.Errorf("%d of 50 near the best known", near)
	}
}

// The optimum lies on a constraint that leaves little of the space.
func TestConstraints(t *testing.T) {
	number := func(i int) *space.Expr { return &space.Expr{Op: space.Number, Param: i} }
	sum := &space.Expr{Op: space.Add, Args: []*space.Expr{{Op: space.Add, Args: []*space.Expr{number(0), number(1)}}, number(2)}}
	sp := Reals(3, 0, 1)
	sp.Constraints = []*space.Expr{{Op: space.Le, Args: []*space.Expr{sum, {Op: space.Const, Number: 0.6}}}}
	got := Best(t, Plugin, Problem{Space: sp, Loss: func(p space.Point) float64 { return -p[0] - 2*p[1] - p[2] }}, "{}", 3, 200)
	if got > -1.1 {
		t.Errorf("%.3f; the best is -1.2", got)
	}
	sp.Constraints = []*space.Expr{{Op: space.Const}}
	if _, err := mustOpen(t, sp, "{}").Suggest(context.Background(), []sdk.Request{{}}); !errors.Is(err, space.ErrTight) {
		t.Error(err)
	}
}

// In spaces with conditions that only the host knows, trials lack parameters that
// searchers believe in.
func TestOpaque(t *testing.T) {
	sp := EveryForm()
	sp.Opaque = true
	s := mustOpen(t, sp, "{}")
	for i := range 60 {
		p := Suggest(t, s, Request(7, i)).Points[0]
		if err := sp.Check(p); err != nil {
			t.Fatal(err)
		}
		for k := i % 3; k < len(p); k += 3 {
			p[k] = nan
		}
		Observe(t, s, Added(i, p), Completed(i, float64(i%7)))
	}
}

func TestOpenMessages(t *testing.T) {
	for options, want := range map[string]string{
		`{"sigm": 1}`:       `options: json: unknown field "sigm"`,
		`{"sigma": "1"}`:    `option "sigma" is a string; expected float64`,
		`{"sigma": 0}`:      `option "sigma" is 0; allowed: numbers from 0.0001 to 1`,
		`{"startup": 0}`:    `option "startup" is 0; allowed: numbers from 1 to 2.147483647e+09`,
		`{"population": 2}`: `option "population" is 2; allowed: 0, or integers from 3 to 100000`,
	} {
		if _, _, err := Plugin.Open(sdk.Problem{Space: EveryForm()}, []byte(options)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, _, err := Plugin.Open(sdk.Problem{Space: Reals(1, 1, 0)}, nil); err == nil {
		t.Error("a space that is none")
	}
	if _, _, err := Plugin.Open(sdk.Problem{Space: EveryForm(), Objectives: make([]sdk.Objective, 2)}, nil); err == nil {
		t.Error("two objectives")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mustOpen(t, Reals(1, 0, 1), "{}").Suggest(ctx, []sdk.Request{{}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// BenchmarkSuggest is a suggestion and its result.
func BenchmarkSuggest(b *testing.B) {
	for _, n := range []int{10, 40, 500} {
		b.Run(fmt.Sprint("params=", n), func(b *testing.B) {
			s := mustOpen(b, mixed(n), "{}")
			rng := space.NewRand(1)
			for i := 0; b.Loop(); i++ {
				p := Suggest(b, s, Request(1, i)).Points[0]
				Observe(b, s, Added(i, p), Completed(i, p[0]+rng.Float64()))
			}
		})
	}
}
