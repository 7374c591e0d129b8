package tpe

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
	"github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

var nan, inf = math.NaN(), math.Inf(1)

func mustOpen(t testing.TB, s *space.Space, options string) sdk.Searcher {
	t.Helper()
	return mustOpenN(t, s, options, 1)
}

func mustOpenN(t testing.TB, s *space.Space, options string, objectives int) sdk.Searcher {
	t.Helper()
	searcher, traits, err := Plugin.Open(sdk.Problem{Space: s, Objectives: make([]sdk.Objective, objectives)}, []byte(options))
	if err != nil || traits.Independent {
		t.Fatal(traits, err)
	}
	return searcher
}

func observe(t testing.TB, s sdk.Searcher, events ...sdk.Event) {
	t.Helper()
	if err := s.Observe(context.Background(), events); err != nil {
		t.Fatal(err)
	}
}

// seedOf is the seed of a trial's request in run number run.
func seedOf(run, trial int) uint64 { return mix(uint64(run)<<32 | uint64(trial)) }

func request(run, trial int) sdk.Request {
	return sdk.Request{Trial: uint32(trial), Seed: seedOf(run, trial)}
}

func suggest(t testing.TB, s sdk.Searcher, requests ...sdk.Request) sdk.Suggestions {
	t.Helper()
	answer, err := s.Suggest(context.Background(), requests)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func added(trial int, p space.Point) sdk.Event {
	return sdk.Event{Kind: sdk.TrialAdded, Trial: uint32(trial), Point: p}
}

func completed(trial int, losses ...float64) sdk.Event {
	return sdk.Event{Kind: sdk.TrialCompleted, Trial: uint32(trial), Losses: losses}
}

// run asks for n trials one after another and returns their points; each must be
// in the space.
func run(t testing.TB, s sdk.Searcher, sp *space.Space, number, n int, f func(space.Point) []float64) (points []space.Point) {
	t.Helper()
	for i := range n {
		answer := suggest(t, s, request(number, i))
		if len(answer.Points) == 0 {
			return points
		}
		p := answer.Points[0]
		if err := sp.Check(p); err != nil || !sp.Holds(p) {
			t.Fatalf("trial %d: %v: %v", i, p, err)
		}
		points = append(points, p)
		observe(t, s, added(i, p), completed(i, f(p)...))
	}
	return points
}

// best is the mean over runs of the best loss of n trials.
func best(t testing.TB, sp *space.Space, options string, runs, n int, f func(space.Point) float64) (mean float64) {
	t.Helper()
	for number := range runs {
		low := inf
		run(t, mustOpen(t, sp, options), sp, number, n, func(p space.Point) []float64 {
			loss := f(p)
			low = min(low, loss)
			return []float64{loss}
		})
		mean += low / float64(runs)
	}
	return mean
}

var functions = []struct {
	name  string
	space *space.Space
	f     func(space.Point) float64
	limit float64
}{
	{"branin", searchtest.Reals(2, 0, 1), searchtest.Branin, 0.45},
	{"hartmann6", searchtest.Reals(6, 0, 1), searchtest.Hartmann6, -2.9},
	{"mixed", searchtest.EveryForm(), searchtest.EveryFormLoss, 0.2},
	{"conditional", searchtest.Tree(), searchtest.TreeLoss, 0.1},
}

// The limits are between what the model reaches and what models reach that are
// broken in one way: good and bad swapped, no bad ones, no order of the results.
func TestConverges(t *testing.T) {
	for _, c := range functions {
		t.Run(c.name, func(t *testing.T) {
			got := best(t, c.space, "{}", 6, 100, c.f)
			if t.Logf("%.4f; random %.4f", got, best(t, c.space, `{"startup": 1000}`, 6, 100, c.f)); got > c.limit {
				t.Errorf("best loss %.4f, want at most %.4f", got, c.limit)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	if err := sdktest.CheckInfo(Plugin.Info, sdk.KindSearcher); err != nil {
		t.Error(err)
	}
}

// B-102: told the history, however cut into batches, a new searcher goes on as the
// old one: the same bits. Requests may be put together in any way.
func TestRestoredGoesOn(t *testing.T) {
	for name, sp := range map[string]*space.Space{"every form": searchtest.EveryForm(), "tree": searchtest.Tree()} {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			events, asked := story(t, sp, rapid.Uint64().Draw(rt, "seed"))
			cut := rapid.IntRange(0, len(events)).Draw(rt, "cut")
			fresh := mustOpen(t, sp, "{}")
			for _, e := range events[:cut] {
				observe(t, fresh, e)
			}
			observe(t, fresh, events[cut:]...)
			again := suggest(t, fresh, asked.requests...)
			if fmt.Sprint(again.Points) != fmt.Sprint(asked.points) {
				rt.Fatalf("%v, but restarted %v", asked.points, again.Points)
			}
		}))
	}
}

type askedPoints struct {
	requests []sdk.Request
	points   []space.Point
}

// story is what happens to a searcher with trials that run at the same time, fail,
// pause and go on; and its answers to requests at the end, one by one.
func story(t *testing.T, sp *space.Space, seed uint64) (events []sdk.Event, last askedPoints) {
	t.Helper()
	s := mustOpen(t, sp, "{}")
	rng := space.NewRand(seed)
	tell := func(e sdk.Event) {
		e.Number = uint64(len(events) + 1)
		events = append(events, e)
		observe(t, s, e)
	}
	var running []int
	for n := range 60 {
		p := suggest(t, s, sdk.Request{Trial: uint32(n), Seed: rng.Uint64()}).Points[0]
		tell(added(n, p))
		running = append(running, n)
		for len(running) > rng.IntN(6) {
			k := rng.IntN(len(running))
			tell(someEvent(rng, running[k]))
			running = slices.Delete(running, k, k+1)
		}
	}
	for n := range 3 {
		r := sdk.Request{Trial: uint32(60 + n), Seed: rng.Uint64()}
		last.requests = append(last.requests, r)
		last.points = append(last.points, suggest(t, s, r).Points...)
	}
	return events, last
}

func someEvent(rng *rand.Rand, trial int) sdk.Event {
	e := completed(trial, rng.Float64())
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
	points := run(t, mustOpen(t, searchtest.EveryForm(), "{}"), searchtest.EveryForm(), 1, 40, func(p space.Point) []float64 { return []float64{p[0] * p[9]} })
	hash := fnv.New64a()
	for _, p := range points {
		for _, x := range p {
			_ = binary.Write(hash, binary.BigEndian, x)
		}
	}
	if got := hash.Sum64(); got != 0x600f69823b26d3dd {
		t.Errorf("%#x", got)
	}
}

// Trials without a result push others away; without the liar they do not.
func TestParallelPending(t *testing.T) {
	spread := func(options string) float64 {
		sum := 0.0
		for number := range 10 {
			s := mustOpen(t, searchtest.Reals(2, 0, 1), options)
			run(t, s, searchtest.Reals(2, 0, 1), number, 30, func(p space.Point) []float64 { return []float64{searchtest.Branin(p)} })
			var requests []sdk.Request
			for i := range 16 {
				requests = append(requests, request(number, 30+i))
			}
			sum += nearest(suggest(t, s, requests...).Points)
		}
		return sum / 10
	}
	if with, without := spread("{}"), spread(`{"liar": false}`); with < 1.5*without {
		t.Errorf("the nearest neighbours are %.4f apart, without the liar %.4f", with, without)
	}
}

// nearest is the mean distance of points to their nearest neighbours.
func nearest(points []space.Point) (mean float64) {
	for i, p := range points {
		least := inf
		for j, q := range points {
			if i != j {
				least = min(least, math.Hypot(p[0]-q[0], p[1]-q[1]))
			}
		}
		mean += least / float64(len(points))
	}
	return mean
}

// Asking again for a trial whose suggestion was lost forgets the lost one.
func TestAskedAgain(t *testing.T) {
	s := mustOpen(t, searchtest.Reals(3, 0, 1), "{}")
	run(t, s, searchtest.Reals(3, 0, 1), 1, 20, func(p space.Point) []float64 { return p[:1] })
	first := suggest(t, s, request(1, 20))
	if again := suggest(t, s, request(1, 20)); fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("%v, then %v", first, again)
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
			if points := run(t, mustOpen(t, searchtest.EveryForm(), "{}"), searchtest.EveryForm(), 1, 60, f); len(points) != 60 {
				t.Errorf("%d points", len(points))
			}
		})
	}
}

// The region where trials fail is left.
func TestFailuresAreBad(t *testing.T) {
	sp := searchtest.Reals(2, 0, 1)
	s := mustOpen(t, sp, "{}")
	failed := 0
	for i := range 80 {
		p := suggest(t, s, request(5, i)).Points[0]
		observe(t, s, added(i, p))
		if p[0] > 0.5 { // and it gets better towards it
			observe(t, s, sdk.Event{Kind: sdk.TrialFailed, Trial: uint32(i)})
			if p[0] > 0.6 {
				failed++
			}
		} else {
			observe(t, s, completed(i, -p[0]))
		}
	}
	if failed > 40 {
		t.Errorf("%d of 80 trials failed and were not at the edge", failed)
	}
}

// A paused trial counts with its last result, one that was removed before any does
// not count, and a later result replaces the earlier.
func TestWhatCounts(t *testing.T) {
	s := mustOpen(t, searchtest.Reals(1, 0, 1), "{}").(*searcher)
	h, branch := s.history, &s.history.branches[0]
	report := func(trial int, loss float64) sdk.Event {
		return sdk.Event{Kind: sdk.ResultReported, Trial: uint32(trial), Losses: []float64{loss}}
	}
	kind := func(trial int, k sdk.EventKind) sdk.Event { return sdk.Event{Kind: k, Trial: uint32(trial)} }
	for i := range 6 {
		observe(t, s, added(i, space.Point{float64(i) / 10}))
	}
	observe(t, s, report(0, 5), report(1, 4), report(2, 3), report(0, 6), kind(0, sdk.TrialPaused), kind(1, sdk.TrialCompleted))
	observe(t, s, kind(3, sdk.TrialRemoved), kind(4, sdk.TrialFailed), kind(9, sdk.TrialFailed))
	trials, _ := branch.ranking.best(9)
	if fmt.Sprint(trials, h.pending, h.finite, branch.members.total) != "[1 0] [2 5] 2 3" {
		t.Error(trials, h.pending, h.finite, branch.members.total)
	}
	observe(t, s, kind(0, sdk.TrialStarted), report(0, 1), report(2, 2))
	if trials, _ = branch.ranking.best(9); fmt.Sprint(trials, h.pending) != "[0 1] [2 5]" {
		t.Error(trials, h.pending)
	}
	observe(t, s, kind(0, sdk.TrialFailed))
	if trials, _ = branch.ranking.best(9); fmt.Sprint(trials, h.finite, branch.members.total) != "[1] 1 3" {
		t.Error(trials, h.finite, branch.members.total)
	}
}

func TestObserveMessages(t *testing.T) {
	s := mustOpen(t, searchtest.Reals(1, 0, 1), "{}")
	observe(t, s, added(0, space.Point{0}))
	for want, e := range map[string]sdk.Event{
		"trial 3 has 2 values; the space has 1 parameters":         added(3, space.Point{1, 2}),
		"a result of trial 0 has 2 losses; there are 1 objectives": completed(0, 1, 2),
	} {
		if err := s.Observe(context.Background(), []sdk.Event{e}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// One trial is enough, and a space may have no parameters or one value.
func TestSmall(t *testing.T) {
	single := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Real, Low: 3, High: 3}, {Name: "b", Kind: space.Choice, Choices: searchtest.Raws("1")}}}
	for _, c := range []struct {
		space *space.Space
		want  int
	}{{searchtest.Reals(1, 0, 1), 8}, {searchtest.Reals(1, 1e300, 1.1e300), 8}, {&space.Space{}, 8}, {single, 1}} {
		points := run(t, mustOpen(t, c.space, `{"startup": 1, "gamma": 1, "max_good": 1, "candidates": 1}`), c.space, 2, 8, func(space.Point) []float64 { return []float64{3} })
		if len(points) != c.want {
			t.Errorf("%d points, want %d", len(points), c.want)
		}
	}
}

func TestManyParameters(t *testing.T) {
	sp := mixed(500)
	first := func(p space.Point) []float64 { return []float64{p[0] + p[4] + p[8]} }
	points := run(t, mustOpen(t, sp, `{"candidates": 4}`), sp, 3, 40, first)
	if len(points) != 40 {
		t.Errorf("%d points", len(points))
	}
}

// A logarithmic scale over 290 powers of ten.
func TestLogNearZero(t *testing.T) {
	sp := &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, Low: 1e-300, High: 1e-10, Log: true}}}
	got := best(t, sp, "{}", 3, 60, func(p space.Point) float64 { return math.Abs(math.Log10(p[0]) + 200) })
	if got > 2 {
		t.Errorf("%.2f powers of ten off", got)
	}
}

func TestEachPointOnceThenExhausted(t *testing.T) {
	sp := &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Choice, Choices: searchtest.Raws("1", "2", "3")},
		{Name: "b", Kind: space.Int, High: 9},
		{Name: "c", Kind: space.Int, High: 6, When: &space.Expr{Op: space.In, Param: 0, Set: []int{1}}},
	}}
	s := mustOpen(t, sp, "{}")
	seen := map[string]bool{}
	for _, p := range run(t, s, sp, 4, 200, func(p space.Point) []float64 { return p[1:2] }) {
		seen[fmt.Sprint(p)] = true
	}
	if len(seen) != 90 {
		t.Errorf("%d different points of 90", len(seen))
	}
	if answer := suggest(t, s, request(4, 300)); len(answer.Points) != 0 || answer.Status != sdk.Exhausted {
		t.Error(answer)
	}
	if n := len(run(t, mustOpen(t, sp, `{"repeats": true}`), sp, 4, 120, func(p space.Point) []float64 { return p[1:2] })); n != 120 {
		t.Errorf("%d points with repeats", n)
	}
}

// B-100, B-104: what is given stays, and what is best with it is learned.
func TestGiven(t *testing.T) {
	sp := searchtest.Reals(2, 0, 1)
	s := mustOpen(t, sp, "{}")
	away := 0.0 // from the best, where the other parameter equals the given one
	for i := range 150 {
		r := request(6, i)
		r.Given = space.Point{[]float64{0.2, 0.8}[i%2], nan}
		p := suggest(t, s, r).Points[0]
		if p[0] != r.Given[0] {
			t.Fatal(p)
		}
		d := math.Abs(p[1] - p[0])
		observe(t, s, added(i, p), completed(i, d))
		if i >= 100 {
			away += d / 50
		}
	}
	if away > 0.25 { // 0.34 at random
		t.Errorf("%.3f away", away)
	}
}

func TestGivenForAbsentAndOneValued(t *testing.T) {
	s := mustOpen(t, searchtest.Tree(), "{}")
	run(t, s, searchtest.Tree(), 1, 30, func(p space.Point) []float64 { return []float64{searchtest.TreeLoss(p)} })
	given := make(space.Point, 16)
	for i := range given {
		given[i] = 0.5
	}
	given[0], given[14], given[15] = 1, 0, 3
	r := request(1, 31)
	r.Given = given
	p := suggest(t, s, r).Points[0]
	if err := searchtest.Tree().Check(p); err != nil || p[0] != 1 || p[5] != 0.5 {
		t.Error(p, err)
	}
	r.Given = space.Point{9}
	if _, err := s.Suggest(context.Background(), []sdk.Request{r}); err == nil {
		t.Error("a given point of the wrong length")
	}
}

// The optimum lies on a constraint that leaves little of the space.
func TestConstraints(t *testing.T) {
	number := func(i int) *space.Expr { return &space.Expr{Op: space.Number, Param: i} }
	sum := &space.Expr{Op: space.Add, Args: []*space.Expr{{Op: space.Add, Args: []*space.Expr{number(0), number(1)}}, number(2)}}
	sp := searchtest.Reals(3, 0, 1)
	sp.Constraints = []*space.Expr{{Op: space.Le, Args: []*space.Expr{sum, {Op: space.Const, Number: 0.6}}}}
	got := best(t, sp, "{}", 3, 80, func(p space.Point) float64 { return -p[0] - 2*p[1] - p[2] })
	if got > -1.05 {
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
	sp := searchtest.EveryForm()
	sp.Opaque = true
	s := mustOpen(t, sp, "{}")
	for i := range 40 {
		p := suggest(t, s, request(7, i)).Points[0]
		for k := i % 3; k < len(p); k += 3 {
			p[k] = nan
		}
		observe(t, s, added(i, p), completed(i, float64(i%7)))
	}
	for _, p := range suggest(t, s, request(7, 41), request(7, 42)).Points {
		if err := sp.Check(p); err != nil {
			t.Error(err)
		}
	}
}

func TestOptionMessages(t *testing.T) {
	for options, want := range map[string]string{
		`{"gama": 1}`:      `options: json: unknown field "gama"`,
		`{"gamma": "1"}`:   `option "gamma" is a string; expected float64`,
		`{"gamma": 0}`:     `option "gamma" is 0; allowed: numbers from 0.001 to 1`,
		`{"startup": 0}`:   `option "startup" is 0; allowed: numbers from 1 to 2.147483647e+09`,
		`{"candidates":0}`: `option "candidates" is 0; allowed: numbers from 1 to 10000`,
	} {
		if _, _, err := Plugin.Open(sdk.Problem{Space: searchtest.EveryForm()}, []byte(options)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	never := searchtest.Reals(1, 1, 0)
	if _, _, err := Plugin.Open(sdk.Problem{Space: never}, nil); err == nil {
		t.Error("a space that is none")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mustOpen(t, searchtest.Reals(1, 0, 1), "{}").Suggest(ctx, []sdk.Request{{}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
