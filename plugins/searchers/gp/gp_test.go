package gp

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
	for name, c := range map[string]struct {
		space      *space.Space
		objectives int
	}{"every form": {EveryForm(), 1}, "tree": {Tree(), 1}, "fronts": {Reals(3, 0, 1), 2}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				events, requests, points := story(t, c.space, c.objectives, seed)
				cut := int(seed) * len(events) / 3
				fresh := Open(t, Plugin, c.space, withCost, c.objectives)
				for _, e := range events[:cut] {
					Observe(t, fresh, e)
				}
				Observe(t, fresh, events[cut:]...)
				if again := Suggest(t, fresh, requests...).Points; fmt.Sprint(again) != fmt.Sprint(points) {
					t.Errorf("%v, but restarted %v", points, again)
				}
			}
		})
	}
}

const withCost = `{"cost": 0.5}`

// story is what happens to a searcher with trials that run at the same time, fail,
// pause and go on; and its answers to requests at the end, one by one.
func story(t *testing.T, sp *space.Space, objectives int, seed uint64) (events []sdk.Event, requests []sdk.Request, points []space.Point) {
	t.Helper()
	s := Open(t, Plugin, sp, withCost, objectives)
	rng := space.NewRand(seed)
	tell := func(e sdk.Event) {
		e.Number = uint64(len(events) + 1)
		if len(e.Losses) > 0 {
			e.Losses = slices.Repeat(e.Losses, objectives)
			e.Losses[0] *= rng.Float64()
		}
		events = append(events, e)
		Observe(t, s, e)
	}
	var running []int
	for n := range 30 {
		p := Suggest(t, s, sdk.Request{Trial: uint32(n), Seed: rng.Uint64()}).Points[0]
		tell(Added(n, p))
		running = append(running, n)
		for len(running) > rng.IntN(6) {
			k := rng.IntN(len(running))
			tell(someEvent(rng, running[k]))
			running = slices.Delete(running, k, k+1)
		}
	}
	for n := range 3 {
		r := sdk.Request{Trial: uint32(30 + n), Seed: rng.Uint64()}
		requests = append(requests, r)
		points = append(points, Suggest(t, s, r).Points...)
	}
	return events, requests, points
}

func someEvent(rng *rand.Rand, trial int) sdk.Event {
	e := Completed(trial, rng.Float64())
	e.Seconds = 100 * rng.Float64()
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
	}{{Reals(1, 0, 1), 12}, {Reals(1, 1e300, 1.1e300), 12}, {&space.Space{}, 12}, {single, 1}, {choices, 2}} {
		points := Run(t, mustOpen(t, c.space, `{"startup": 1}`), c.space, 2, 12, 1, func(space.Point) []float64 { return []float64{3} })
		if len(points) != c.want {
			t.Errorf("%d points, want %d", len(points), c.want)
		}
	}
}

func TestManyParameters(t *testing.T) {
	sp := mixed(500)
	first := func(p space.Point) []float64 { return []float64{p[0] + p[4] + p[8]} }
	if points := Run(t, mustOpen(t, sp, "{}"), sp, 3, 14, 1, first); len(points) != 14 {
		t.Errorf("%d points", len(points))
	}
}

// A logarithmic scale over 290 powers of ten.
func TestLogNearZero(t *testing.T) {
	sp := &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, Low: 1e-300, High: 1e-10, Log: true}}}
	got := Best(t, Plugin, Problem{Space: sp, Loss: func(p space.Point) float64 { return math.Abs(math.Log10(p[0]) + 200) }}, "{}", 3, 30)
	if got > 1 {
		t.Errorf("%.2f powers of ten off", got)
	}
}

// Steps that do not divide the range: the last value is the last multiple.
func TestSteps(t *testing.T) {
	sp := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Real, Low: 0.05, High: 1, Step: 0.3}, {Name: "b", Kind: space.Int, Low: 5, High: 99, Step: 10}, {Name: "c", Kind: space.Real, High: 1}}}
	got := Best(t, Plugin, Problem{Space: sp, Loss: func(p space.Point) float64 { return -p[0] - p[1]/90 + math.Abs(p[2]-0.3) }}, "{}", 3, 40)
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

// The optimum lies on a constraint that leaves little of the space.
func TestConstraints(t *testing.T) {
	number := func(i int) *space.Expr { return &space.Expr{Op: space.Number, Param: i} }
	sum := &space.Expr{Op: space.Add, Args: []*space.Expr{{Op: space.Add, Args: []*space.Expr{number(0), number(1)}}, number(2)}}
	sp := Reals(3, 0, 1)
	sp.Constraints = []*space.Expr{{Op: space.Le, Args: []*space.Expr{sum, {Op: space.Const, Number: 0.6}}}}
	got := Best(t, Plugin, Problem{Space: sp, Loss: func(p space.Point) float64 { return -p[0] - 2*p[1] - p[2] }}, "{}", 3, 40)
	if got > -1.19 {
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
	for i := range 30 {
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

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mustOpen(t, Reals(1, 0, 1), "{}").Suggest(ctx, []sdk.Request{{}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The bits of suggestions are the same on every machine.
func TestBits(t *testing.T) {
	hash := fnv.New64a()
	for objectives := 1; objectives <= 2; objectives++ {
		s := Open(t, Plugin, EveryForm(), withCost, objectives)
		for i := range 30 {
			p := Suggest(t, s, Request(1, i)).Points[0]
			e := Completed(i, []float64{p[0] * p[9], p[4]}[:objectives]...)
			e.Seconds = p[6]
			Observe(t, s, Added(i, p), e)
			for _, x := range p {
				_ = binary.Write(hash, binary.BigEndian, x)
			}
		}
	}
	if got := hash.Sum64(); got != 0x305dd279c780fb4f {
		t.Errorf("%#x", got)
	}
}

// The limits are between what the model reaches and what models reach that are
// broken in one way: the wrong sign of the improvement, categories that are all the
// same, no fitting. At random it is 0.68, -1.93, 1.56 and 0.18.
func TestConverges(t *testing.T) {
	limits := []float64{0.41, -3.2, 0.15, 0.17}
	for i, problem := range Problems() {
		got := Best(t, Plugin, problem, "{}", 2, 60)
		if t.Logf("%s: %.4f", problem.Name, got); got > limits[i] {
			t.Errorf("%s: %.4f, want at most %.4f", problem.Name, got, limits[i])
		}
	}
}

// In a tree, each branch with a best point of its own, it finds the best branch and
// the best point in it; models without the branch, or without its parameters, do not.
func TestConditional(t *testing.T) {
	branches := Problem{Name: "branches", Space: Tree(), Loss: func(p space.Point) float64 {
		kind := int(p[0])
		loss := []float64{0.3, 0.2, 0, 0.4}[kind]
		for i := range 3 {
			loss += math.Abs(p[2+3*kind+i] - []float64{0.1, 0.5, 0.8}[(kind+i)%3])
		}
		return loss
	}}
	got, random := Best(t, Plugin, branches, "{}", 4, 60), Best(t, Plugin, branches, `{"startup": 1000}`, 4, 60)
	if t.Logf("%.4f; random %.4f", got, random); got > 0.1 {
		t.Errorf("%.4f, want at most 0.1", got)
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
			if points := Run(t, mustOpen(t, EveryForm(), "{}"), EveryForm(), 1, 30, 1, f); len(points) != 30 {
				t.Errorf("%d points", len(points))
			}
		})
	}
}

// The region where trials fail is left.
func TestFailuresAreBad(t *testing.T) {
	sp := Reals(2, 0, 1)
	s := mustOpen(t, sp, "{}")
	failed := 0
	for i := range 60 {
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
	if failed > 20 {
		t.Errorf("%d of 60 trials failed and were not at the edge", failed)
	}
}

// Trials without a result push others away.
func TestPending(t *testing.T) {
	sp := Reals(2, 0, 1)
	s := mustOpen(t, sp, "{}")
	Run(t, s, sp, 1, 12, 1, func(p space.Point) []float64 { return []float64{Branin(p)} })
	var requests, again []sdk.Request
	for i := range 12 {
		requests = append(requests, Request(1, 12+i))
		again = append(again, Request(1, 12))
	}
	points := Suggest(t, s, requests...).Points
	mean := 0.0
	for i, p := range points {
		nearest := inf
		for j, q := range points {
			if i != j {
				nearest = min(nearest, math.Hypot(p[0]-q[0], p[1]-q[1]))
			}
		}
		mean += nearest / 12
	}
	if t.Logf("%.3f", mean); mean < 0.05 {
		t.Errorf("the nearest neighbours are %.3f apart", mean)
	}
	// Asking again for a trial whose suggestion was lost forgets the lost one.
	for _, p := range Suggest(t, s, again...).Points {
		if p[0] != points[0][0] {
			t.Errorf("%v, then %v", points[0], p)
		}
	}
}

// What has a result is no longer pending, one that was removed before any does not
// count, and a later result replaces the earlier.
func TestWhatCounts(t *testing.T) {
	s := mustOpen(t, Reals(1, 0, 1), "{}")
	h := s.history
	report := func(trial int, loss float64) sdk.Event {
		return sdk.Event{Kind: sdk.ResultReported, Trial: uint32(trial), Losses: []float64{loss}}
	}
	kind := func(trial int, k sdk.EventKind) sdk.Event { return sdk.Event{Kind: k, Trial: uint32(trial)} }
	for i := range 6 {
		Observe(t, s, Added(i, space.Point{float64(i) / 10}))
	}
	Observe(t, s, report(0, 5), report(1, 4), report(2, 3), report(0, 6), kind(0, sdk.TrialPaused), kind(1, sdk.TrialCompleted))
	Observe(t, s, kind(3, sdk.TrialRemoved), kind(4, sdk.TrialFailed), kind(9, sdk.TrialFailed))
	if got := fmt.Sprint(h.counted, h.pending, h.finite, h.revisions); got != "[0 1 4] [2 5] 2 0" {
		t.Error(got)
	}
	Observe(t, s, kind(0, sdk.TrialStarted), report(0, 1), report(2, 2))
	if got := fmt.Sprint(h.counted, h.pending, h.revisions, h.scalarise(h.counted, nil)); got != "[0 1 4] [2 5] 1 [1 4 +Inf]" {
		t.Error(got)
	}
}

// B-100, B-104: what is given stays, and what is best with it is learned.
func TestGiven(t *testing.T) {
	sp := Reals(2, 0, 1)
	s := mustOpen(t, sp, "{}")
	away := 0.0 // from the best, where the other parameter equals the given one
	for i := range 60 {
		r := Request(6, i)
		r.Given = space.Point{[]float64{0.2, 0.8}[i%2], nan}
		p := Suggest(t, s, r).Points[0]
		if p[0] != r.Given[0] {
			t.Fatal(p)
		}
		d := math.Abs(p[1] - p[0])
		Observe(t, s, Added(i, p), Completed(i, d))
		if i >= 40 {
			away += d / 20
		}
	}
	if away > 0.2 { // 0.34 at random
		t.Errorf("%.3f away", away)
	}
	if _, err := s.Suggest(context.Background(), []sdk.Request{{Given: space.Point{9}}}); err == nil {
		t.Error("a given point of the wrong length")
	}
}

// Fronts come near that of a problem of two losses: f1 = x, f2 = g·(1-√(x/g)).
func TestFront(t *testing.T) {
	sp := Reals(4, 0, 1)
	near := func(options string) (near int) {
		parts := map[int]bool{}
		Run(t, Open(t, Plugin, sp, options, 2), sp, 1, 60, 1, func(p space.Point) []float64 {
			g := 1.0
			for _, x := range p[1:] {
				g += 3 * x
			}
			if g < 1.2 {
				parts[int(p[0]*8)] = true
			}
			return []float64{p[0], g * (1 - math.Sqrt(p[0]/g))}
		})
		return len(parts)
	}
	if got, random := near("{}"), near(`{"startup": 1000}`); got < 5 || random > 2 {
		t.Errorf("%d of 8 parts of the front; at random %d", got, random)
	}
}

// Where time counts, what is as good and quicker is tried more.
func TestCost(t *testing.T) {
	sp := Reals(2, 0, 1)
	seconds := func(options string) (sum float64) {
		s := mustOpen(t, sp, options)
		for i := range 50 {
			p := Suggest(t, s, Request(2, i)).Points[0]
			e := Completed(i, math.Abs(p[1]-0.4)+math.Sin(20*p[0])/4)
			e.Seconds = math.Exp(4 * p[0])
			sum += e.Seconds
			Observe(t, s, Added(i, p), e)
		}
		return sum
	}
	if with, without := seconds(`{"cost": 1}`), seconds("{}"); with > 0.7*without {
		t.Errorf("%.0f seconds, without regard to time %.0f", with, without)
	}
}

// Of thousands of trials it models the best, the last and some of the others.
func TestChoose(t *testing.T) {
	h := newHistory(newLayout(Reals(1, 0, 1)), 1)
	var places []int
	var losses []float64
	for i := range 3000 {
		h.add(uint32(i), []float64{0})
		places, losses = append(places, i), append(losses, float64((i*7919)%3000))
	}
	some, theirs := h.choose(places, losses, 90)
	good, late, middle := 0, 0, 0
	for k, i := range some {
		if theirs[k] != losses[i] || k > 0 && some[k-1] >= i {
			t.Fatal(some)
		}
		switch {
		case theirs[k] < 30:
			good++
		case i >= 2970:
			late++
		case i < 1500:
			middle++
		}
	}
	if len(some) != 90 || good != 30 || late < 29 || middle < 8 {
		t.Errorf("%d, %d good, %d late, %d of the first half", len(some), good, late, middle)
	}
}

func TestOpenMessages(t *testing.T) {
	for options, want := range map[string]string{
		`{"kernel": 1}`:     `options: json: unknown field "kernel"`,
		`{"cost": "1"}`:     `option "cost" is a string; expected float64`,
		`{"cost": 2}`:       `option "cost" is 2; allowed: numbers from 0 to 1`,
		`{"startup": 0}`:    `option "startup" is 0; allowed: numbers from 1 to 2.147483647e+09`,
		`{"max_trials": 9}`: `option "max_trials" is 9; allowed: numbers from 10 to 2000`,
	} {
		if _, _, err := Plugin.Open(sdk.Problem{Space: EveryForm()}, []byte(options)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, _, err := Plugin.Open(sdk.Problem{Space: Reals(1, 1, 0)}, nil); err == nil {
		t.Error("a space that is none")
	}
}
