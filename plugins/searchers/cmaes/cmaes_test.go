package cmaes

import (
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

func mustOpen(t testing.TB, s *space.Space, options string) *searcher {
	t.Helper()
	return Open(t, Plugin, s, options, 1).(*searcher)
}

// B-102: a new searcher that receives the history, in any batches, continues like the old one, with
// the same bits. Requests may be combined in any way.
func TestRestoredGoesOn(t *testing.T) {
	for name, sp := range map[string]*space.Space{"every form": EveryForm(), "tree": Tree()} {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			options := rapid.SampledFrom([]string{"{}", `{"adapt": true}`}).Draw(rt, "options")
			told := Story(t, mustOpen(t, sp, options), 0, 80, 20, 1, space.NewRand(rapid.Uint64().Draw(rt, "seed")))
			if err := told.Again(t, mustOpen(t, sp, options),
				rapid.IntRange(0, len(told.Events)).Draw(rt, "cut")); err != nil {
				rt.Fatal(err)
			}
		}))
	}
}

// The bits of suggestions are the same on every machine.
func TestBits(t *testing.T) {
	hash := fnv.New64a()
	for _, options := range []string{"{}", `{"adapt": true}`} {
		for _, p := range Run(t, mustOpen(t, EveryForm(), options), EveryForm(), 1, 80, 1,
			func(p space.Point) []float64 { return []float64{p[0] * p[9]} }) {
			for _, x := range p {
				_ = binary.Write(hash, binary.BigEndian, x)
			}
		}
	}
	if got := hash.Sum64(); got != 0x838a5efd814ed4ea {
		t.Errorf("%#x", got)
	}
}

func TestOddResults(t *testing.T) { OddResults(t, Plugin, 300) }

// Generations also wait for results.
func TestFailuresAreBad(t *testing.T) { FailuresAreLeft(t, Plugin, 150, 40) }

// With twice as many parallel trials as a generation it still converges.
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

func TestObserveMessages(t *testing.T) { ObserveMessages(t, Plugin) }

func TestSmall(t *testing.T) { Small(t, Plugin, `{"startup": 1, "population": 3}`, 30) }

func TestManyParameters(t *testing.T) { ManyParameters(t, Plugin, "{}", 80) }

func TestLogNearZero(t *testing.T) { LogNearZero(t, Plugin, 100, 0.1) }

func TestSteps(t *testing.T) { Steps(t, Plugin, 150) }

func TestEachPointOnceThenExhausted(t *testing.T) { EachPointOnce(t, Plugin) }

// B-100, B-104: given values are kept.
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
	GivenOfWrongLength(t, Plugin)
}

// The search starts from existing trials.
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
		if p := Suggest(t, s, Request(1, 40+i)).Points[0]; math.Abs(p[0]-0.9) < 0.3 && math.Abs(p[1]-0.1) < 0.3 &&
			math.Abs(p[2]-0.7) < 0.3 {
			near++
		}
	}
	if near < 25 { // random: 9
		t.Errorf("%d of 50 near the best known", near)
	}
}

func TestConstraints(t *testing.T) { Constraints(t, Plugin, 200, -1.1) }

func TestOpaque(t *testing.T) { Opaque(t, Plugin, 60) }

func TestOpenMessages(t *testing.T) {
	OpenMessages(t, Plugin, map[string]string{
		`{"sigm": 1}`:       `unknown option "sigm"; known: startup, sigma, population, adapt, restarts, repeats`,
		`{"sigma": "1"}`:    `option "sigma" is "1"; allowed: a number from 0.0001 to 1`,
		`{"sigma": 0}`:      `option "sigma" is 0; allowed: a number from 0.0001 to 1`,
		`{"startup": 0}`:    `option "startup" is 0; allowed: a whole number from 1 to 2147483647`,
		`{"population": 2}`: `option "population" is 2; allowed: 0, or a whole number from 3 to 100000`,
	})
	if _, _, err := Plugin.Open(sdk.Problem{Space: EveryForm(), Objectives: make([]sdk.Objective, 2)},
		nil); err == nil {
		t.Error("two objectives")
	}
}

func TestCancelled(t *testing.T) { Cancelled(t, Plugin) }

// BenchmarkSuggest measures a suggestion and its result.
func BenchmarkSuggest(b *testing.B) {
	for _, n := range []int{10, 40, 500} {
		b.Run(fmt.Sprint("params=", n), func(b *testing.B) {
			s := mustOpen(b, Mixed(n), "{}")
			rng := space.NewRand(1)
			for i := 0; b.Loop(); i++ {
				p := Suggest(b, s, Request(1, i)).Points[0]
				Observe(b, s, Added(i, p), Completed(i, p[0]+rng.Float64()))
			}
		})
	}
}

func TestValuesMissing(t *testing.T) { ValuesMissing(t, Plugin) }

func TestRetried(t *testing.T) { Retried(t, Plugin) }
