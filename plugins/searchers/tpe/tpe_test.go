package tpe

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

var nan, inf = math.NaN(), math.Inf(1)

func mustOpen(t testing.TB, s *space.Space, options string) sdk.Searcher {
	t.Helper()
	return mustOpenN(t, s, options, 1)
}

func mustOpenN(t testing.TB, s *space.Space, options string, objectives int) sdk.Searcher {
	t.Helper()
	searcher, traits, err := Plugin.Open(sdk.Problem{Space: s, Objectives: make([]sdk.Objective, objectives)},
		[]byte(options))
	if err != nil || traits.Independent {
		t.Fatal(traits, err)
	}
	return searcher
}

// The limits lie between the result of the model and those of models with one defect: good and bad
// swapped, no bad ones, no order of the results.
func TestConverges(t *testing.T) {
	limits := map[string]float64{"branin": 0.45, "hartmann6": -2.9, "mixed": 0.2, "conditional": 0.1}
	for _, p := range Problems() {
		t.Run(p.Name, func(t *testing.T) {
			got := Best(t, Plugin, p, "{}", 6, 100)
			if t.Logf("%.4f; random %.4f", got, Best(t, Plugin, p, `{"startup": 1000}`, 6, 100)); got > limits[p.Name] {
				t.Errorf("best loss %.4f, want at most %.4f", got, limits[p.Name])
			}
		})
	}
}

// B-102: a new searcher that receives the history, in any batches, continues like the old one, with
// the same bits. Requests may be combined in any way.
func TestRestoredGoesOn(t *testing.T) {
	for name, sp := range map[string]*space.Space{"every form": EveryForm(), "tree": Tree()} {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			told := Story(t, mustOpen(t, sp, "{}"), 0, 60, 6, 1, space.NewRand(rapid.Uint64().Draw(rt, "seed")))
			if err := told.Again(t, mustOpen(t, sp, "{}"),
				rapid.IntRange(0, len(told.Events)).Draw(rt, "cut")); err != nil {
				rt.Fatal(err)
			}
		}))
	}
}

// The bits of suggestions are the same on every machine.
func TestBits(t *testing.T) {
	points := Run(t, mustOpen(t, EveryForm(), "{}"), EveryForm(), 1, 40, 1,
		func(p space.Point) []float64 { return []float64{p[0] * p[9]} })
	hash := fnv.New64a()
	for _, p := range points {
		for _, x := range p {
			_ = binary.Write(hash, binary.BigEndian, x)
		}
	}
	if got := hash.Sum64(); got != 0xb36bcd1a483948d9 {
		t.Errorf("%#x", got)
	}
}

// Trials without a result repel others; without the liar they do not.
func TestParallelPending(t *testing.T) {
	spread := func(options string) float64 {
		sum := 0.0
		for number := range 10 {
			s := mustOpen(t, Reals(2, 0, 1), options)
			Run(t, s, Reals(2, 0, 1), number, 30, 1, func(p space.Point) []float64 { return []float64{Branin(p)} })
			var requests []sdk.Request
			for i := range 16 {
				requests = append(requests, Request(number, 30+i))
			}
			sum += nearest(Suggest(t, s, requests...).Points)
		}
		return sum / 10
	}
	if with, without := spread("{}"), spread(`{"liar": false}`); with < 1.5*without {
		t.Errorf("the nearest neighbours are %.4f apart, without the liar %.4f", with, without)
	}
}

// nearest returns the mean distance of points to their nearest neighbours.
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

// A repeated request for a trial, whose suggestion was lost, replaces the lost one.
func TestAskedAgain(t *testing.T) {
	s := mustOpen(t, Reals(3, 0, 1), "{}")
	Run(t, s, Reals(3, 0, 1), 1, 20, 1, func(p space.Point) []float64 { return p[:1] })
	first := Suggest(t, s, Request(1, 20))
	if again := Suggest(t, s, Request(1, 20)); fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("%v, then %v", first, again)
	}
}

func TestOddResults(t *testing.T) { OddResults(t, Plugin, 60) }

func TestFailuresAreBad(t *testing.T) { FailuresAreLeft(t, Plugin, 80, 40) }

// A paused trial counts with its last result, a trial removed without a result does not count, and
// a later result replaces an earlier one.
func TestWhatCounts(t *testing.T) {
	s := mustOpen(t, Reals(1, 0, 1), "{}").(*searcher)
	h, branch := s.history, &s.history.branches[0]
	report := func(trial int, loss float64) sdk.Event {
		return sdk.Event{Kind: sdk.ResultReported, Trial: uint32(trial), Losses: []float64{loss}}
	}
	kind := func(trial int, k sdk.EventKind) sdk.Event { return sdk.Event{Kind: k, Trial: uint32(trial)} }
	for i := range 6 {
		Observe(t, s, Added(i, space.Point{float64(i) / 10}))
	}
	Observe(t, s, report(0, 5), report(1, 4), report(2, 3), report(0, 6), kind(0, sdk.TrialPaused),
		kind(1, sdk.TrialCompleted))
	Observe(t, s, kind(3, sdk.TrialRemoved), kind(4, sdk.TrialFailed), kind(9, sdk.TrialFailed))
	trials, _ := branch.ranking.best(9)
	if fmt.Sprint(trials, h.pending, h.finite, branch.members.total) != "[1 0] [2 5] 2 3" {
		t.Error(trials, h.pending, h.finite, branch.members.total)
	}
	Observe(t, s, kind(0, sdk.TrialStarted), report(0, 1), report(2, 2))
	if trials, _ = branch.ranking.best(9); fmt.Sprint(trials, h.pending) != "[0 1] [2 5]" {
		t.Error(trials, h.pending)
	}
	Observe(t, s, kind(0, sdk.TrialFailed))
	if trials, _ = branch.ranking.best(9); fmt.Sprint(trials, h.finite, branch.members.total) != "[1] 1 3" {
		t.Error(trials, h.finite, branch.members.total)
	}
}

func TestObserveMessages(t *testing.T) { ObserveMessages(t, Plugin) }

func TestSmall(t *testing.T) {
	Small(t, Plugin, `{"startup": 1, "gamma": 1, "max_good": 1, "candidates": 1}`, 8)
}

func TestManyParameters(t *testing.T) { ManyParameters(t, Plugin, `{"candidates": 4}`, 40) }

func TestLogNearZero(t *testing.T) { LogNearZero(t, Plugin, 60, 2) }

func TestEachPointOnceThenExhausted(t *testing.T) { EachPointOnce(t, Plugin) }

// B-100, B-104: given values are kept, and the best point with them is learned.
func TestGiven(t *testing.T) {
	sp := Reals(2, 0, 1)
	s := mustOpen(t, sp, "{}")
	away := 0.0 // from the best, where the other parameter equals the given one
	for i := range 150 {
		r := Request(6, i)
		r.Given = space.Point{[]float64{0.2, 0.8}[i%2], nan}
		p := Suggest(t, s, r).Points[0]
		if p[0] != r.Given[0] {
			t.Fatal(p)
		}
		d := math.Abs(p[1] - p[0])
		Observe(t, s, Added(i, p), Completed(i, d))
		if i >= 100 {
			away += d / 50
		}
	}
	if away > 0.25 { // 0.34 at random
		t.Errorf("%.3f away", away)
	}
}

func TestGivenForAbsentAndOneValued(t *testing.T) {
	s := mustOpen(t, Tree(), "{}")
	Run(t, s, Tree(), 1, 30, 1, func(p space.Point) []float64 { return []float64{TreeLoss(p)} })
	given := make(space.Point, 16)
	for i := range given {
		given[i] = 0.5
	}
	given[0], given[14], given[15] = 1, 0, 3
	r := Request(1, 31)
	r.Given = given
	p := Suggest(t, s, r).Points[0]
	if err := Tree().Check(p); err != nil || p[0] != 1 || p[5] != 0.5 {
		t.Error(p, err)
	}
	r.Given = space.Point{9}
	if _, err := s.Suggest(context.Background(), []sdk.Request{r}); err == nil {
		t.Error("a given point of the wrong length")
	}
}

func TestConstraints(t *testing.T) { Constraints(t, Plugin, 80, -1.05) }

func TestOpaque(t *testing.T) { Opaque(t, Plugin, 42) }

func TestOptionMessages(t *testing.T) {
	OpenMessages(t, Plugin, map[string]string{
		`{"gama": 1}`: `unknown option "gama"; known: startup, candidates, gamma, max_good, prior_weight, ` +
			`bandwidth, multivariate, liar, repeats`,
		`{"gamma": "1"}`:   `option "gamma" is "1"; allowed: a number from 0.001 to 1`,
		`{"gamma": 0}`:     `option "gamma" is 0; allowed: a number from 0.001 to 1`,
		`{"startup": 0}`:   `option "startup" is 0; allowed: a whole number from 1 to 2147483647`,
		`{"candidates":0}`: `option "candidates" is 0; allowed: a whole number from 1 to 10000`,
	})
}

func TestCancelled(t *testing.T) { Cancelled(t, Plugin) }

// B-152
func TestOneIteration(t *testing.T) { OneIteration(t, Plugin) }

func TestValuesMissing(t *testing.T) { ValuesMissing(t, Plugin) }

func TestRetried(t *testing.T) { Retried(t, Plugin) }
