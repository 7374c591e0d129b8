package gp

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
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
	for name, c := range map[string]struct {
		space      *space.Space
		objectives int
	}{"every form": {EveryForm(), 1}, "tree": {Tree(), 1}, "fronts": {Reals(3, 0, 1), 2}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				told := Story(t, Open(t, Plugin, c.space, withCost, c.objectives), 0, 30, 6, c.objectives,
					space.NewRand(seed))
				if err := told.Again(t, Open(t, Plugin, c.space, withCost, c.objectives),
					int(seed)*len(told.Events)/3); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

const withCost = `{"cost": 0.5}`

func TestObserveMessages(t *testing.T) { ObserveMessages(t, Plugin) }

func TestSmall(t *testing.T) { Small(t, Plugin, `{"startup": 1}`, 12) }

func TestManyParameters(t *testing.T) { ManyParameters(t, Plugin, "{}", 14) }

func TestLogNearZero(t *testing.T) { LogNearZero(t, Plugin, 30, 1) }

func TestSteps(t *testing.T) { Steps(t, Plugin, 40) }

func TestEachPointOnceThenExhausted(t *testing.T) { EachPointOnce(t, Plugin) }

func TestConstraints(t *testing.T) { Constraints(t, Plugin, 40, -1.19) }

func TestOpaque(t *testing.T) { Opaque(t, Plugin, 30) }

func TestCancelled(t *testing.T) { Cancelled(t, Plugin) }

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
	if got := hash.Sum64(); got != 0xa03ef50bf394d5d5 {
		t.Errorf("%#x", got)
	}
}

// The limits lie between the result of the model and those of models with one defect: the wrong
// sign of the improvement, indistinguishable categories, no fitting. Random points give 0.68,
// -1.93, 1.56 and 0.18.
func TestConverges(t *testing.T) {
	limits := []float64{0.41, -3.2, 0.15, 0.17}
	for i, problem := range Problems() {
		got := Best(t, Plugin, problem, "{}", 2, 60)
		if t.Logf("%s: %.4f", problem.Name, got); got > limits[i] {
			t.Errorf("%s: %.4f, want at most %.4f", problem.Name, got, limits[i])
		}
	}
}

// In a tree with a best point in each branch it finds the best branch and its best point; models
// without the branch, or without its parameters, do not.
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

func TestOddResults(t *testing.T) { OddResults(t, Plugin, 30) }

func TestFailuresAreBad(t *testing.T) { FailuresAreLeft(t, Plugin, 60, 20) }

// A candidate whose rating ends early has a score below the floor, and one that is settled that of a rating to the end.
func TestRate(t *testing.T) {
	sp := Mixed(7)
	s := mustOpen(t, sp, `{"cost": 0.5}`)
	rng := space.NewRand(4)
	for i := range 70 {
		p := sp.Draw(rng)
		e := Completed(i, p[0]+rng.Float64())
		e.Seconds = 1 + p[1]
		Observe(t, s, Added(i, p), e)
	}
	h := &maximizer{searcher: s, rng: rng, model: s.posterior(rng), price: s.cost()}
	early := 0
	for range 500 {
		c, _ := h.look(sp.Draw(rng))
		got := c
		h.rate(&c, -inf)
		floor := c.score + 2*rng.Float64() - 0.1
		mean, sd := h.model.predict(c.x)
		value, _ := logImprovement((h.model.best - mean) / sd)
		if want := value + portable.Log(sd) - h.cost(c.x); c.score != want || !c.settled {
			t.Fatalf("%v, want %v", c.score, want)
		}
		h.rate(&got, floor)
		switch {
		case got.settled && got.score != c.score:
			t.Errorf("the score is %v, want %v", got.score, c.score)
		case !got.settled && !(c.score < got.score && got.score < floor):
			t.Errorf("%v, at most %v, was left at the floor %v", c.score, got.score, floor)
		case !got.settled:
			early++
		}
	}
	if t.Log(early); early < 50 {
		t.Errorf("%d of 500 ratings ended early", early)
	}
}

// The two best of a pool are those of a list in which all are rated to the end, and the best that is no trial is
// chosen.
func TestTop(t *testing.T) {
	sp := Mixed(7)
	s := mustOpen(t, sp, "{}")
	known(t, s, sp, 0, 70, 1)
	for seed := range uint64(20) {
		rng := space.NewRand(seed)
		h := &maximizer{searcher: s, rng: rng, model: s.posterior(rng)}
		list := h.global()
		all := slices.Clone(list)
		for i := range all {
			h.rate(&all[i], -inf)
		}
		slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
		for i, c := range top(list) {
			if c.score != all[i].score || !slices.Equal(c.x, all[i].x) {
				t.Errorf("number %d is %v, want %v", i, c, all[i])
			}
		}
		for i := range 5 {
			s.history.ask(uint32(1000+i), all[i].x)
		}
		if got := h.choose(list); !slices.Equal(got, all[5].point) {
			t.Errorf("%v was chosen, want %v", got, all[5].point)
		}
		s.history.forget(1000)
	}
}

// Trials without a result repel others.
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
	// A repeated request for a trial, whose suggestion was lost, replaces the lost one.
	for _, p := range Suggest(t, s, again...).Points {
		if p[0] != points[0][0] {
			t.Errorf("%v, then %v", points[0], p)
		}
	}
}

// A trial with a result is no longer pending, a trial removed without a result does not count, and
// a later result replaces an earlier one.
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
	Observe(t, s, report(0, 5), report(1, 4), report(2, 3), report(0, 6), kind(0, sdk.TrialPaused),
		kind(1, sdk.TrialCompleted))
	Observe(t, s, kind(3, sdk.TrialRemoved), kind(4, sdk.TrialFailed), kind(9, sdk.TrialFailed))
	if got := fmt.Sprint(h.counted, h.pending, h.finite, h.revisions); got != "[0 1 4] [2 5] 2 0" {
		t.Error(got)
	}
	Observe(t, s, kind(0, sdk.TrialStarted), report(0, 1), report(2, 2))
	if got := fmt.Sprint(h.counted, h.pending, h.revisions, h.scalarise(h.counted, nil)); got != "[0 1 4] [2 5] 1 [1 "+
		"4 +Inf]" {
		t.Error(got)
	}
}

// B-100, B-104: given values are kept, and the best point with them is learned.
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
	GivenOfWrongLength(t, Plugin)
}

// Fronts approach that of a problem with two losses: f1 = x, f2 = g·(1-√(x/g)).
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

// If time counts, equally good and faster points are tried more often.
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

// Trials that a scheduler stops early take less time, but they are not quicker: with each iteration as long as
// any other, time has no influence on where points are expected to be quick.
func TestCostOfStoppedTrials(t *testing.T) {
	s := mustOpen(t, Reals(1, 0, 1), `{"cost": 1}`)
	for i := range 20 {
		x, until := float64(i)/20, uint64(9)
		if x > 0.5 {
			until = 1
		}
		Observe(t, s, Added(i, space.Point{x}),
			sdk.Event{Kind: sdk.ResultReported, Trial: uint32(i), Iteration: until, Losses: []float64{x}},
			sdk.Event{Kind: sdk.TrialCompleted, Trial: uint32(i), Seconds: 5 * float64(until)})
	}
	p := s.cost()
	if low, high := p.at([]float64{0}), p.at([]float64{1}); math.Abs(low-high) > 0.01 {
		t.Errorf("an iteration is expected to take exp(%.2f) and exp(%.2f) s; each took 5", low, high)
	}
}

// After thousands of trials the last ones tell how long a trial takes.
func TestCostOfTheLast(t *testing.T) {
	s := mustOpen(t, Reals(1, 0, 1), `{"cost": 1}`)
	for i := range 3000 {
		e := Completed(i, 1)
		if e.Seconds = 5; i < 2000 {
			e.Seconds = 500
		}
		Observe(t, s, Added(i, space.Point{float64(i%100) / 100}), e)
	}
	if got := s.cost().at([]float64{0.5}); math.Abs(got-math.Log(5)) > 0.01 {
		t.Errorf("exp(%.2f) s are expected; the last thousand trials took 5 s each", got)
	}
}

// Unless cost is set, what is told counts, with one objective, while trials are stopped early.
func TestCostOfToldTimes(t *testing.T) {
	for _, c := range []struct {
		options        string
		objectives     int
		stopping, told bool
		want           bool
	}{
		{"{}", 1, true, true, true}, {`{"cost": null}`, 1, true, true, true}, {`{"cost": 0}`, 1, true, true, false},
		{"{}", 1, true, false, false}, {"{}", 1, false, true, false}, {"{}", 2, true, true, false},
		{`{"cost": 0.3}`, 2, false, false, true},
	} {
		s := Open(t, Plugin, Reals(1, 0, 1), c.options, c.objectives).(*searcher)
		for i := range 40 {
			until := uint64(9)
			if c.stopping && i%4 > 0 {
				until = 1
			}
			losses := []float64{float64(i % 4), 1}[:c.objectives]
			Observe(t, s, Added(i, space.Point{float64(i) / 40}),
				sdk.Event{Kind: sdk.ResultReported, Trial: uint32(i), Iteration: 1, Losses: losses},
				sdk.Event{Kind: sdk.TrialCompleted, Trial: uint32(i), Iteration: until, Losses: losses,
					Seconds: 1 + float64(i), SecondsTold: c.told})
		}
		if got := s.cost() != nil; got != c.want {
			t.Errorf("%+v: that times count is %t", c, got)
		}
	}
}

// With thousands of trials it models the best, the last and some of the others.
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
	OpenMessages(t, Plugin, map[string]string{
		`{"kernel": 1}`:     `unknown option "kernel"; known: startup, max_trials, candidates, cost, repeats`,
		`{"cost": "1"}`:     `option "cost" is "1"; allowed: a number from 0 to 1 or null`,
		`{"cost": 2}`:       `option "cost" is 2; allowed: a number from 0 to 1 or null`,
		`{"startup": 0}`:    `option "startup" is 0; allowed: a whole number from 1 to 2147483647`,
		`{"max_trials": 9}`: `option "max_trials" is 9; allowed: a whole number from 10 to 2000`,
	})
}

// B-152
func TestOneIteration(t *testing.T) { OneIteration(t, Plugin) }

// Where the optimum lies at a bound, that point is suggested once, although improvement may be expected there.
func TestNoPointTwice(t *testing.T) {
	for _, options := range []string{`{}`, `{"repeats": true}`} {
		sp := Reals(2, 0, 1)
		s := Open(t, Plugin, sp, options, 1)
		seen, again := map[string]bool{}, 0
		for i := range 30 {
			p := Suggest(t, s, Request(1, i)).Points[0]
			if key := sp.Key(p); seen[key] {
				again++
			} else {
				seen[key] = true
			}
			Observe(t, s, Added(i, p), Completed(i, p[0]+p[1]))
		}
		if may := options != `{}`; again > 0 != may {
			t.Errorf("with %s, %d of 30 points were suggested before", options, again)
		}
	}
}

// trained sends the events of a trial that reports early until its last iteration, and final there.
func trained(t *testing.T, s *searcher, i int, p space.Point, until uint64, early, final float64) {
	t.Helper()
	Observe(t, s, Added(i, p))
	for n := uint64(1); n <= until; n++ {
		loss := early
		if n == until && until > 1 {
			loss = final
		}
		Observe(t, s, sdk.Event{Kind: sdk.ResultReported, Trial: uint32(i), Iteration: n, Losses: []float64{loss}})
	}
	Observe(t, s, sdk.Event{Kind: sdk.TrialCompleted, Trial: uint32(i)})
}

// What was stopped early is no evidence against a region, since early losses may mislead: here those near
// 0.2 are good at first, and those near 0.8 at the end.
func TestStopsTellNothing(t *testing.T) {
	const trials = 60
	s := mustOpen(t, Reals(2, 0, 1), "{}")
	for i := range trials {
		x, until := (float64(i*23%trials)+0.5)/trials, uint64(9)
		if x > 0.5 && i%5 > 0 {
			until = 1
		}
		trained(t, s, i, space.Point{x, float64(i) / trials}, until, math.Abs(x-0.2), math.Abs(x-0.8))
	}
	near := 0
	for i := range 40 {
		if x := Suggest(t, s, Request(8, trials+i)).Points[0][0]; math.Abs(x-0.8) < 0.1 {
			near++
		}
	}
	if t.Log(near); near < 24 {
		t.Errorf("%d of 40 suggestions are near the best of the final losses", near)
	}
}

// While trials are stopped, a searcher that receives all events at once suggests the same as one that
// was asked in between.
func TestStoppedAndRestored(t *testing.T) {
	const trials = 90
	asked, restored := mustOpen(t, Reals(2, 0, 1), "{}"), mustOpen(t, Reals(2, 0, 1), "{}")
	for i := range trials {
		if i%3 == 0 {
			Suggest(t, asked, Request(8, i))
		}
		for _, s := range []*searcher{asked, restored} {
			x := (float64(i*23%trials) + 0.5) / trials
			trained(t, s, i, space.Point{x, float64(i) / trials}, []uint64{27, 9, 1}[int(3*x)], x, math.Abs(x-0.1))
		}
	}
	got, want := Suggest(t, asked, Request(8, trials)).Points[0], Suggest(t, restored, Request(8, trials)).Points[0]
	if !slices.Equal(got, want) || !asked.history.fidelity.Stopping() {
		t.Errorf("%v, and %v at once", got, want)
	}
}

// Three trials at the end say more than dozens at an early iteration.
func TestFewAreEnough(t *testing.T) {
	s := mustOpen(t, Reals(6, 0, 1), "{}")
	for i := range 23 {
		until := uint64(9)
		if i >= 20 {
			until = 27
		}
		trained(t, s, i, slices.Repeat(space.Point{float64(i) / 23}, 6), until, float64(40-i), float64(20-i))
	}
	if got := fmt.Sprint(s.history.counted, s.maxTrials()); got != "[20 21 22] 120" {
		t.Errorf("%s count", got)
	}
}

func TestValuesMissing(t *testing.T) { ValuesMissing(t, Plugin) }

func TestRetried(t *testing.T) { Retried(t, Plugin) }
