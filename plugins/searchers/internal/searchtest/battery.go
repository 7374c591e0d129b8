package searchtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// The tests in this file are common to searchers with a model. The caller sets the number of trials
// by the cost of a suggestion.

var nan, inf = math.NaN(), math.Inf(1)

// open1 opens a searcher with one objective.
func open1(t testing.TB, p sdk.SearcherPlugin, s *space.Space, options string) sdk.Searcher {
	t.Helper()
	return Open(t, p, s, options, 1)
}

// OddResults checks that the searcher continues with constant, infinite or missing results.
func OddResults(t *testing.T, p sdk.SearcherPlugin, n int) {
	for name, f := range map[string]func(space.Point) []float64{
		"constant":  func(space.Point) []float64 { return []float64{1} },
		"infinite":  func(space.Point) []float64 { return []float64{inf} },
		"NaN":       func(space.Point) []float64 { return []float64{nan} },
		"huge":      func(p space.Point) []float64 { return []float64{math.Copysign(math.MaxFloat64, p[0])} },
		"none":      func(space.Point) []float64 { return nil },
		"sometimes": func(p space.Point) []float64 { return []float64{max(p[0], inf*math.Trunc(p[4]/20))} },
	} {
		t.Run(name, func(t *testing.T) {
			if points := Run(t, open1(t, p, EveryForm(), "{}"), EveryForm(), 1, n, 1, f); len(points) != n {
				t.Errorf("%d points", len(points))
			}
		})
	}
}

// FailuresAreLeft checks that at most so many of n trials fail far inside the region of failures,
// although losses improve towards it.
func FailuresAreLeft(t *testing.T, p sdk.SearcherPlugin, n, most int) {
	t.Helper()
	s := open1(t, p, Reals(2, 0, 1), "{}")
	failed := 0
	for i := range n {
		p := Suggest(t, s, Request(5, i)).Points[0]
		Observe(t, s, Added(i, p))
		if p[0] <= 0.5 {
			Observe(t, s, Completed(i, -p[0]))
			continue
		}
		Observe(t, s, sdk.Event{Kind: sdk.TrialFailed, Trial: uint32(i)})
		if p[0] > 0.6 {
			failed++
		}
	}
	if failed > most {
		t.Errorf("%d of %d trials failed and were not at the edge", failed, n)
	}
}

// ObserveMessages checks that invalid events are errors.
func ObserveMessages(t *testing.T, p sdk.SearcherPlugin) {
	t.Helper()
	s := open1(t, p, Reals(1, 0, 1), "{}")
	Observe(t, s, Added(0, space.Point{0}))
	for want, e := range map[string]sdk.Event{
		"the point of trial 3 has length 2; expected 1, one for each parameter": Added(3, space.Point{1, 2}),
		"a result of trial 0 has 2 losses; there are 1 objectives":              Completed(0, 1, 2),
	} {
		if err := s.Observe(context.Background(), []sdk.Event{e}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// OpenMessages checks the messages for invalid options.
func OpenMessages(t *testing.T, p sdk.SearcherPlugin, messages map[string]string) {
	t.Helper()
	for options, want := range messages {
		if _, _, err := p.Open(sdk.Problem{Space: EveryForm()}, []byte(options)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, _, err := p.Open(sdk.Problem{Space: Reals(1, 1, 0)}, nil); err == nil {
		t.Error("a space that is none")
	}
}

// Small checks one trial, and spaces with no parameters, one value, or only choices.
func Small(t *testing.T, p sdk.SearcherPlugin, options string, n int) {
	t.Helper()
	choice := space.Param{Name: "b", Kind: space.Choice, Choices: Raws("1")}
	single := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Real, Low: 3, High: 3}, choice}}
	choice.Choices = Raws("1", "2")
	choices := &space.Space{Params: []space.Param{choice}}
	for _, c := range []struct {
		space *space.Space
		want  int
	}{{Reals(1, 0, 1), n}, {Reals(1, 1e300, 1.1e300), n}, {&space.Space{}, n}, {single, 1}, {choices, 2}} {
		points := Run(t, open1(t, p, c.space, options), c.space, 2, n, 1,
			func(space.Point) []float64 { return []float64{3} })
		if len(points) != c.want {
			t.Errorf("%d points, want %d", len(points), c.want)
		}
	}
}

// ManyParameters checks a space of 500 parameters.
func ManyParameters(t *testing.T, p sdk.SearcherPlugin, options string, n int) {
	t.Helper()
	sp := Mixed(500)
	first := func(p space.Point) []float64 { return []float64{p[0] + p[4] + p[8]} }
	if points := Run(t, open1(t, p, sp, options), sp, 3, n, 1, first); len(points) != n {
		t.Errorf("%d points", len(points))
	}
}

// LogNearZero checks a logarithmic scale over 290 powers of ten; the result may be off by at most
// so many of them.
func LogNearZero(t *testing.T, p sdk.SearcherPlugin, n int, most float64) {
	t.Helper()
	sp := &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, Low: 1e-300, High: 1e-10, Log: true}}}
	got := Best(t, p, Problem{Space: sp, Loss: func(p space.Point) float64 { return math.Abs(math.Log10(p[0]) + 200) }},
		"{}", 3, n)
	if got > most {
		t.Errorf("%.2f powers of ten off", got)
	}
}

// Steps checks steps that do not divide the range: the last value is the last multiple.
func Steps(t *testing.T, p sdk.SearcherPlugin, n int) {
	t.Helper()
	sp := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Real, Low: 0.05, High: 1, Step: 0.3},
		{Name: "b", Kind: space.Int, Low: 5, High: 99, Step: 10}, {Name: "c", Kind: space.Real, High: 1}}}
	got := Best(t, p, Problem{Space: sp, Loss: func(p space.Point) float64 {
		return -p[0] - p[1]/90 +
			math.Abs(p[2]-0.3)
	}}, "{}", 3, n)
	if got > -1.89 {
		t.Errorf("%.4f; the best is -1.9", got)
	}
}

// EachPointOnce checks that in a finite space no point occurs twice and the searcher is then
// exhausted, unless points may repeat.
func EachPointOnce(t *testing.T, p sdk.SearcherPlugin) {
	t.Helper()
	sp := &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Choice, Choices: Raws("1", "2", "3")},
		{Name: "b", Kind: space.Int, High: 9},
		{Name: "c", Kind: space.Int, High: 6, When: &space.Expr{Op: space.In, Param: 0, Set: []int{1}}},
	}}
	s, seen := open1(t, p, sp, "{}"), map[string]bool{}
	second := func(p space.Point) []float64 { return p[1:2] }
	for _, p := range Run(t, s, sp, 4, 200, 1, second) {
		seen[fmt.Sprint(p)] = true
	}
	if len(seen) != 90 {
		t.Errorf("%d different points of 90", len(seen))
	}
	if answer := Suggest(t, s, Request(4, 300)); len(answer.Points) != 0 || answer.Status != sdk.Exhausted {
		t.Error(answer)
	}
	if n := len(Run(t, open1(t, p, sp, `{"repeats": true}`), sp, 4, 120, 1, second)); n != 120 {
		t.Errorf("%d points with repeats", n)
	}
}

// Constraints checks a space in which the optimum, -1.2, lies on a constraint that excludes most
// points.
func Constraints(t *testing.T, p sdk.SearcherPlugin, n int, most float64) {
	t.Helper()
	number := func(i int) *space.Expr { return &space.Expr{Op: space.Number, Param: i} }
	sum := &space.Expr{Op: space.Add, Args: []*space.Expr{{Op: space.Add, Args: []*space.Expr{number(0), number(1)}},
		number(2)}}
	sp := Reals(3, 0, 1)
	sp.Constraints = []*space.Expr{{Op: space.Le, Args: []*space.Expr{sum, {Op: space.Const, Number: 0.6}}}}
	got := Best(t, p, Problem{Space: sp, Loss: func(p space.Point) float64 { return -p[0] - 2*p[1] - p[2] }}, "{}", 3,
		n)
	if got > most {
		t.Errorf("%.3f; the best is -1.2", got)
	}
	sp.Constraints = []*space.Expr{{Op: space.Const}}
	if _, err := open1(t, p, sp, "{}").Suggest(context.Background(), []sdk.Request{{}}); !errors.Is(err,
		space.ErrTight) {
		t.Error(err)
	}
}

// Opaque checks spaces with conditions that only the host knows: trials may lack parameters that
// the searcher expects.
func Opaque(t *testing.T, p sdk.SearcherPlugin, n int) {
	t.Helper()
	sp := EveryForm()
	sp.Opaque = true
	s := open1(t, p, sp, "{}")
	for i := range n {
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

// Cancelled checks that the searcher stops when the context is cancelled.
func Cancelled(t *testing.T, p sdk.SearcherPlugin) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := open1(t, p, Reals(1, 0, 1), "{}").Suggest(ctx, []sdk.Request{{}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// GivenOfWrongLength checks that such a request is an error.
func GivenOfWrongLength(t *testing.T, p sdk.SearcherPlugin) {
	t.Helper()
	if _, err := open1(t, p, Reals(2, 0, 1), "{}").Suggest(context.Background(),
		[]sdk.Request{{Given: space.Point{9}}}); err == nil {
		t.Error("a given point of the wrong length")
	}
}

// OneIteration checks that losses at different iterations are not compared (B-152): all first losses
// are far below all last ones, and the trials that are stopped after the first are the bad ones.
func OneIteration(t *testing.T, p sdk.SearcherPlugin) {
	t.Helper()
	s := open1(t, p, Reals(2, 0, 1), "{}")
	report := func(trial int, iteration uint64, loss float64) {
		e := sdk.Event{Kind: sdk.ResultReported, Trial: uint32(trial), Iteration: iteration, Losses: []float64{loss}}
		Observe(t, s, e)
	}
	const trials = 60
	for i := range trials {
		x := (float64(i*23%trials) + 0.5) / trials
		Observe(t, s, Added(i, space.Point{x, float64(i) / trials}))
		loss := math.Abs(x - 0.2)
		report(i, 1, loss-100)
		if x < 0.6 {
			report(i, 2, loss)
		}
		Observe(t, s, sdk.Event{Kind: sdk.TrialCompleted, Trial: uint32(i)})
	}
	near := 0
	for i := range 40 {
		if x := Suggest(t, s, Request(8, trials+i)).Points[0][0]; math.Abs(x-0.2) < 0.2 {
			near++
		}
	}
	if near < 24 {
		t.Errorf("%d of 40 suggestions are near the best of the last losses", near)
	}
}

// Transcript has the events that a searcher received, and its answers.
type Transcript struct {
	Events   []sdk.Event
	Requests []sdk.Request
	Points   []space.Point
}

// Story sends events of parallel trials, up to running at a time, that fail, pause and continue,
// after the first ones; then it requests suggestions one by one.
func Story(t *testing.T, s sdk.Searcher, first, trials, running, objectives int, rng *rand.Rand) (told Transcript) {
	t.Helper()
	tell := func(e sdk.Event) {
		e.Number = uint64(len(told.Events) + 1)
		told.Events = append(told.Events, e)
		Observe(t, s, e)
	}
	var now []int
	for n := first; n < first+trials; n++ {
		tell(Added(n, Suggest(t, s, sdk.Request{Trial: uint32(n), Seed: rng.Uint64()}).Points[0]))
		now = append(now, n)
		for len(now) > rng.IntN(running) {
			k := rng.IntN(len(now))
			tell(someEvent(rng, now[k], objectives))
			now = slices.Delete(now, k, k+1)
		}
	}
	for n := range 4 {
		r := sdk.Request{Trial: uint32(first + trials + n), Seed: rng.Uint64()}
		told.Requests = append(told.Requests, r)
		told.Points = append(told.Points, Suggest(t, s, r).Points...)
	}
	return told
}

func someEvent(rng *rand.Rand, trial, objectives int) sdk.Event {
	e := Completed(trial)
	for range objectives {
		e.Losses = append(e.Losses, rng.Float64())
	}
	e.Seconds, e.SecondsTold, e.Iteration = 100*rng.Float64(), rng.IntN(4) > 0, rng.Uint64N(5)
	switch rng.IntN(8) {
	case 0:
		e.Kind, e.Losses = sdk.TrialFailed, nil
	case 1:
		e.Kind = sdk.TrialPaused
	case 2:
		e.Kind, e.Losses = sdk.TrialRemoved, nil
	case 3:
		e.Losses = slices.Repeat([]float64{inf}, objectives)
	}
	return e
}

// Again sends the events to a new searcher, those up to cut one by one and the rest at once. It
// must answer the combined requests with the same bits.
func (told Transcript) Again(t *testing.T, fresh sdk.Searcher, cut int) error {
	t.Helper()
	for _, e := range told.Events[:cut] {
		Observe(t, fresh, e)
	}
	Observe(t, fresh, told.Events[cut:]...)
	if again := Suggest(t, fresh, told.Requests...).Points; fmt.Sprint(again) != fmt.Sprint(told.Points) {
		return fmt.Errorf("%v, but restarted %v", told.Points, again)
	}
	return nil
}
