package auto

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/pareto"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
	"github.com/tunehost/tunehost/plugins/searchers/random"
)

func mustOpen(t testing.TB, s *space.Space) *searcher {
	t.Helper()
	return Open(t, Plugin, s, "{}", 1).(*searcher)
}

func TestServed(t *testing.T) {
	if served != serve.CookieKey {
		t.Errorf("%q is not what processes of plugins have: %q", served, serve.CookieKey)
	}
}

// The limits lie between the usual result and the result of random points.
func TestConverges(t *testing.T) {
	limits := map[string]float64{"branin": 0.4, "hartmann6": -3.2, "mixed": 0.1, "conditional": 0.16}
	for _, p := range Problems() {
		t.Run(p.Name, func(t *testing.T) {
			got, other := Best(t, Plugin, p, "{}", 2, 50), Best(t, random.Plugin, p, "{}", 2, 50)
			if t.Logf("%.4f; random %.4f", got, other); got > limits[p.Name] || other < limits[p.Name] {
				t.Errorf("best loss %.4f, random %.4f; want a limit of %.4f between", got, other, limits[p.Name])
			}
		})
	}
}

func TestPending(t *testing.T) {
	mean := 0.0
	for run := range 2 {
		low := math.Inf(1)
		Run(t, mustOpen(t, Reals(6, 0, 1)), Reals(6, 0, 1), run, 64, 16, func(p space.Point) []float64 {
			low = min(low, Hartmann6(p))
			return []float64{Hartmann6(p)}
		})
		mean += low / 2
	}
	if t.Logf("%.3f", mean); mean > -2.5 {
		t.Errorf("%.3f; the best is -3.322", mean)
	}
}

// The best possible value is 0.667.
func TestObjectives(t *testing.T) {
	volume := func(p sdk.SearcherPlugin) float64 {
		var points [][]float64
		Run(t, Open(t, p, Reals(6, 0, 1), "{}", 2), Reals(6, 0, 1), 1, 50, 1, func(p space.Point) []float64 {
			g := 1.0
			for _, x := range p[1:] {
				g += 9 * x / 5
			}
			losses := []float64{p[0], g * (1 - math.Sqrt(p[0]/g))}
			points = append(points, []float64{min(1, losses[0]), min(1, losses[1])})
			return losses
		})
		return pareto.Volume(points)
	}
	got, other := volume(Plugin), volume(random.Plugin)
	if t.Logf("%.3f; random %.3f", got, other); got < 0.5 || other > 0.2 {
		t.Errorf("the front's volume is %.3f, at random %.3f", got, other)
	}
}

// With cost, equally good and faster points are tried more often.
func TestCost(t *testing.T) {
	sp := Reals(2, 0, 1)
	seconds := func(options string) (sum float64) {
		s := Open(t, Plugin, sp, options, 1)
		for i := range 50 {
			p := Suggest(t, s, Request(2, i)).Points[0]
			e := Completed(i, math.Abs(p[1]-0.4)+math.Sin(20*p[0])/4)
			e.Seconds = math.Exp(4 * p[0])
			sum += e.Seconds
			Observe(t, s, Added(i, p), e)
		}
		return sum
	}
	with, without := seconds(`{"cost": 1}`), seconds("{}")
	if t.Logf("%.0f, %.0f", with, without); with > 0.8*without {
		t.Errorf("%.0f seconds, without regard to time %.0f", with, without)
	}
}

// A grid has no use for the option cost, which is accepted there, too.
func TestOptions(t *testing.T) {
	grid := &space.Space{Params: []space.Param{{Name: "c", Kind: space.Choice, Choices: Raws("1", "2"), Grid: true}}}
	Open(t, Plugin, grid, `{"cost": 1}`, 1)
	OpenMessages(t, Plugin, map[string]string{
		`{"costs": 1}`: `unknown option "costs"; known: cost, repeats`,
		`{"cost": 2}`:  `option "cost" is 2; allowed: a number from 0 to 1 or null`,
	})
}

// B-102: a new searcher that receives the history, in any batches, continues like the old one, even
// when a phase begins; requests may be combined.
func TestRestoredGoesOn(t *testing.T) {
	for name, sp := range map[string]*space.Space{"every form": EveryForm(), "tree": Tree(), "one": Reals(1, 0, 1)} {
		t.Run(name, func(t *testing.T) {
			checks := 0
			rapid.Check(t, func(rt *rapid.T) {
				if checks++; checks > 4 { // a story takes a while
					return
				}
				before := rapid.SampledFrom([]int{0, firstMix, firstMany}).Draw(rt, "before")
				told := story(t, sp, max(0, before-8), rapid.Uint64().Draw(rt, "seed"))
				if err := told.Again(t, mustOpen(t, sp),
					rapid.IntRange(0, len(told.Events)).Draw(rt, "cut")); err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}

// story returns the events and answers of a searcher after that many trials at random points.
func story(t *testing.T, sp *space.Space, before int, seed uint64) Transcript {
	t.Helper()
	s, rng := mustOpen(t, sp), space.NewRand(seed)
	var known []sdk.Event
	for n := range before {
		known = append(known, Added(n, sp.Complete(sp.Draw(rng))), Completed(n, rng.Float64()))
	}
	Observe(t, s, known...)
	told := Story(t, s, before, 16, 6, 1, rng)
	told.Events = append(known, told.Events...)
	return told
}

// In a finite space no point occurs twice, whichever searcher answers, even in one batch; then the
// searcher is exhausted.
func TestExhausts(t *testing.T) {
	sp := &space.Space{Params: []space.Param{{Name: "n", Kind: space.Int, Low: 1, High: 9},
		{Name: "c", Kind: space.Choice, Choices: Raws("1", "2", "3")}}}
	s := mustOpen(t, sp)
	seen := map[string]bool{}
	for n := 0; ; {
		var batch []sdk.Request
		for i := range 7 {
			batch = append(batch, Request(1, n+i))
		}
		answer := Suggest(t, s, batch...)
		for _, p := range answer.Points {
			if seen[sp.Key(p)] {
				t.Fatalf("%v again", p)
			}
			seen[sp.Key(p)] = true
			Observe(t, s, Added(n, p), Completed(n, p[0]))
			n++
		}
		if answer.Status == sdk.Exhausted {
			break
		}
	}
	if len(seen) != 27 {
		t.Errorf("%d of 27 points", len(seen))
	}
	repeats := Open(t, Plugin, sp, `{"repeats": true}`, 1)
	if points := Run(t, repeats, sp, 1, 40, 1, func(p space.Point) []float64 { return p[:1] }); len(points) != 40 {
		t.Errorf("%d points with repeats", len(points))
	}
}

// spy records the requests and events that it receives.
type spy struct {
	name  string
	asked *[]string
	told  int
	point space.Point
	err   error
}

func (s *spy) Observe(_ context.Context, events []sdk.Event) error {
	s.told += len(events)
	return nil
}

func (s *spy) Suggest(context.Context, []sdk.Request) (sdk.Suggestions, error) {
	*s.asked = append(*s.asked, s.name)
	return sdk.Suggestions{Points: []space.Point{s.point}}, s.err
}

// spied returns a searcher whose members are spies.
func spied(t *testing.T, sp *space.Space) (s *searcher, asked, said *[]string) {
	asked, said = new([]string), new([]string)
	s, err := newSearcher(sdk.Problem{Space: sp}, options{}, func(text string) { *said = append(*said, text) })
	if err != nil {
		t.Fatal(err)
	}
	for name := range s.members {
		s.members[name] = &spy{name: name, asked: asked, point: sp.Complete(sp.Draw(space.NewRand(1)))}
	}
	return s, asked, said
}

// The trial's number and the number of ended trials determine the member; all members receive all
// events; members that are no longer needed are dropped; the user is told.
func TestTurns(t *testing.T) {
	s, asked, said := spied(t, Reals(3, 0, 1))
	who := func() string {
		*asked = nil
		for n := range 4 {
			Suggest(t, s, Request(1, n))
		}
		return strings.Join(*asked, " ")
	}
	ended := 0
	end := func(until int, kind sdk.EventKind) {
		for ; ended < until; ended++ {
			Observe(t, s, Added(ended, space.Point{0, 0, 0}),
				sdk.Event{Kind: kind, Trial: uint32(ended), Losses: []float64{1}})
		}
	}
	for _, c := range []struct {
		ended int
		want  string
	}{
		{0, "gp gp gp gp"}, {firstMix - 1, "gp gp gp gp"}, {firstMix, "gp gp gp tpe"}, {firstMany - 1, "gp gp gp tpe"},
		{firstMany, "cmaes gp cmaes tpe"}, {firstMost, "cmaes cmaes cmaes tpe"},
	} {
		end(c.ended, sdk.TrialCompleted)
		if got := who(); got != c.want {
			t.Errorf("after %d trials: %s, want %s", c.ended, got, c.want)
		}
	}
	for name, m := range s.members {
		if told := m.(*spy).told; told != 2*ended {
			t.Errorf("%s was told %d of %d events", name, told, 2*ended)
		}
	}
	if s.members["gp"] != nil || len(*said) != 4 ||
		!strings.HasPrefix((*said)[0], "auto: 3 parameters (0 choices): gp until 10 trials have ended, then ") {
		t.Errorf("%q %v", *said, s.members)
	}
}

// Once trials are stopped early, two suggestions in three are gp's: batches have no influence.
func TestStopping(t *testing.T) {
	var events []sdk.Event
	for i := range 20 {
		until, loss := uint64(9), 1.0
		if i >= 12 {
			until, loss = 3, 2
		}
		events = append(events, Added(i, space.Point{0, 0, 0}))
		for n := uint64(1); n <= until; n++ {
			events = append(events, sdk.Event{Kind: sdk.ResultReported, Trial: uint32(i), Iteration: n,
				Losses: []float64{loss}})
		}
		events = append(events, sdk.Event{Kind: sdk.TrialCompleted, Trial: uint32(i)})
	}
	for _, batch := range []int{1, len(events)} {
		s, asked, said := spied(t, Reals(3, 0, 1))
		for some := range slices.Chunk(events, batch) {
			Observe(t, s, some...)
		}
		for n := range 4 {
			Suggest(t, s, Request(1, n))
		}
		if got := strings.Join(*asked, " "); got != "gp gp tpe gp" || len(s.members) != 2 {
			t.Errorf("%s of %v", got, s.members)
		}
		if got := (*said)[len(*said)-1]; got != "auto: trials are stopped early: gp, gp, tpe in turn" {
			t.Error(got)
		}
	}
}

// A point that another member has suggested already is requested again, and finally drawn at
// random.
func TestClash(t *testing.T) {
	sp := &space.Space{Params: []space.Param{{Name: "n", Kind: space.Int, Low: 1, High: 2}}}
	s, asked, _ := spied(t, sp)
	first, second := Suggest(t, s, Request(1, 0)).Points[0], Suggest(t, s, Request(1, 1)).Points[0]
	if first[0] == second[0] || len(*asked) != 1+maxAsked {
		t.Error(first, second, *asked)
	}
}

func TestMemberFails(t *testing.T) {
	s, _, _ := spied(t, Reals(1, 0, 1))
	broken := errors.New("broken")
	s.members["gp"] = &spy{asked: new([]string), err: broken, point: nil}
	if _, err := s.Suggest(context.Background(), []sdk.Request{{}}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// Tests each rule.
func TestRules(t *testing.T) {
	const first = "gp until 10 trials have ended, then gp, gp, gp, tpe in turn until 250 trials have ended, then "
	for _, c := range []struct {
		facts facts
		want  string
	}{
		{facts{params: 10, choices: 5, objectives: 1}, first + "cmaes, gp, cmaes, tpe in turn until 1000 trials have " +
			"ended, then cmaes, cmaes, cmaes, tpe in turn"},
		{facts{params: 10, choices: 6, objectives: 1},
			first + "gp, tpe in turn until 1000 trials have ended, then tpe"},
		{facts{params: 60, conditional: true, objectives: 1}, first + "gp, tpe in turn until 1000 trials have ended, " +
			"then tpe"},
		{facts{params: 10, objectives: 2}, first + "nsga2"},
		{facts{params: 10, objectives: 4}, first + "tpe"},
		{facts{params: 61, objectives: 2}, "tpe"},
		{facts{params: 501, objectives: 1}, "evolution"},
	} {
		if got := describe(choose(c.facts)); got != c.want {
			t.Errorf("%v: %s, want %s", c.facts, got, c.want)
		}
	}
}

// Every searcher named by a rule exists, and phases are in order.
func TestPlansAreWhole(t *testing.T) {
	for _, params := range []int{0, 1, 10, mostForGP + 1, mostForModels + 1} {
		for choices := 0; choices <= params; choices += max(1, params/2) {
			for objectives := 1; objectives <= 5; objectives++ {
				for _, conditional := range []bool{false, true} {
					plan := choose(facts{params, choices, conditional, objectives})
					for i, p := range plan {
						if i == 0 && p.from != 0 || i > 0 && p.from <= plan[i-1].from {
							t.Errorf("%v", plan)
						}
						for _, name := range p.turns {
							if _, _, err := searchers[name].Open(sdk.Problem{Space: Reals(1, 0, 1),
								Objectives: make([]sdk.Objective, objectives)}, nil); err != nil {
								t.Errorf("%v: %v", plan, err)
							}
						}
					}
				}
			}
		}
	}
}

// Parameters with only one value do not count.
func TestLook(t *testing.T) {
	if got := look(sdk.Problem{Space: EveryForm()}); got != (facts{11, 1, false, 1}) {
		t.Errorf("%+v", got)
	}
	if got := look(sdk.Problem{Space: Tree(), Objectives: make([]sdk.Objective,
		2)}); got.String() != "16 parameters (2 choices) with conditions, 2 objectives" {
		t.Errorf("%v", got)
	}
}

// A space may have no parameters, only one value, or grids alone: then nothing is learnt, so that all
// trials may be asked for at once.
func TestSmall(t *testing.T) {
	single := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Real, Low: 3, High: 3}}}
	grid := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Choice, Grid: true,
		Choices: [][]byte{[]byte("1"), []byte("2")}}}}
	for _, c := range []struct {
		space *space.Space
		want  int
	}{{&space.Space{}, 30}, {single, 1}, {grid, 2}} {
		s, traits, err := Plugin.Open(sdk.Problem{Space: c.space}, nil)
		if err != nil || !traits.Independent {
			t.Fatal(traits, err)
		}
		points := Run(t, s, c.space, 2, 30, 1, func(space.Point) []float64 { return []float64{3} })
		if len(points) != c.want {
			t.Errorf("%d points, want %d", len(points), c.want)
		}
	}
}

func TestMessages(t *testing.T) {
	for _, options := range []string{`{"searcher": "tpe"}`, `{"repeats": 1}`} {
		if _, _, err := Plugin.Open(sdk.Problem{Space: Reals(1, 0, 1)}, []byte(options)); err == nil {
			t.Errorf("%s is accepted", options)
		}
	}
	if _, _, err := Plugin.Open(sdk.Problem{Space: Reals(1, 1, 0)}, nil); err == nil {
		t.Error("a space that is none")
	}
	s := mustOpen(t, Reals(1, 0, 1))
	if err := s.Observe(context.Background(), []sdk.Event{Added(3, space.Point{1, 2})}); err == nil ||
		err.Error() != "the point of trial 3 has length 2; expected 1, one for each parameter" {
		t.Error(err)
	}
	if _, err := s.Suggest(context.Background(), []sdk.Request{{Given: space.Point{7}}}); err == nil ||
		!strings.HasPrefix(err.Error(), "trial 0: ") {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mustOpen(t, Reals(1, 0, 1)).Suggest(ctx, []sdk.Request{{}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// B-152
func TestOneIteration(t *testing.T) { OneIteration(t, Plugin) }

func TestValuesMissing(t *testing.T) { ValuesMissing(t, Plugin) }

func TestRetried(t *testing.T) { Retried(t, Plugin) }
