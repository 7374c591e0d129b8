package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// search is an experiment of quick trials; more keys are appended.
func search(more string) string {
	return `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 2, any_params: true}}
seed: 11
` + strings.TrimLeft(more, "\n")
}

// B-005: a searcher that learns is asked only for what a free slot could run,
// and one trial more.
func TestAskedOnlyForFreeSlots(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: learner\ntrials: 30\n"), learner)
	o.Resources = "(cpu=3)"
	most := 0
	m := audit(t, finish(t, o).Dir, func(m *core.Machine, e core.Event) {
		if _, ok := e.(*core.SuggestionsReceived); ok {
			most = max(most, m.Running()+m.Count(core.Pending))
		}
	})
	if m.Count(core.Terminated) != 30 || most < 3 || most > 4 {
		t.Errorf("%d trials ended; %d suggestions were ever open, want 3 or 4: three slots and perhaps one that waits",
			m.Count(core.Terminated), most)
	}
}

// B-005: grid and random are asked ahead.
func TestIndependentSearchersAreAskedAhead(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: random\ntrials: 30\n"))
	o.Resources = "(cpu=3)"
	asks := 0
	audit(t, finish(t, o).Dir, func(_ *core.Machine, e core.Event) {
		if _, ok := e.(*core.SuggestionsReceived); ok {
			asks++
		}
	})
	if asks > 10 {
		t.Errorf("it was asked %d times for 30 independent trials on three slots; it may be asked for six ahead", asks)
	}
}

// B-006: an error within bounded time, and the state is kept.
func TestSearcherWaitsForEver(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: waiting\npoints: [{x: 0.5}]\ntrials: 3\n"),
		waiting)
	o.Clock = clocktest.New(100)
	ended := finish(t, o)
	if ended.Outcome != core.Failed {
		t.Fatalf("ended %+v", ended)
	}
	contains(t, ended.Reason, `searcher waiting says "not yet" although`)
	e, err := view.Open(ended.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if st, err := e.Status(time.Now()); err != nil || st.Reason != ended.Reason || st.Cause.By != "waiting" {
		t.Errorf("status says %q, by %q; %v", st.Reason, st.Cause.By, err)
	}
	if m := audit(t, ended.Dir, nil); m.State(0) != core.Terminated {
		t.Errorf("the trial that ran is %v", m.State(0))
	}
}

// B-100: axes multiply, the grid is repeated, and other parameters are drawn
// afresh each time.
func TestGridTimesTrials(t *testing.T) {
	o, _ := quick(t, search("space: {a: {grid: [1, 2]}, b: {grid: [p, q, r]}, x: {uniform: [0, 1]}}\nsearcher: "+
		"random\ntrials: 2\n"))
	m := audit(t, finish(t, o).Dir, nil)
	cells, drawn := map[string]int{}, map[float64]bool{}
	for _, text := range params(m) {
		var p struct {
			A int
			B string
			X float64
		}
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		cells[fmt.Sprint(p.A, p.B)]++
		drawn[p.X] = true
	}
	if len(cells) != 6 || m.Trials() != 12 || len(drawn) != 12 {
		t.Errorf("%d trials in %d cells with %d values of x, want 12 in 6 with 12", m.Trials(), len(cells), len(drawn))
	}
	for cell, n := range cells {
		if n != 2 {
			t.Errorf("cell %s ran %d times, want 2", cell, n)
		}
	}
}

// B-101: without bound until the budget ends it.
func TestUnboundedTrials(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: -1\nbudget: {when: trials >= 100}\n"))
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	if n := m.Count(core.Terminated); ended.Outcome != core.Finished || n < 100 {
		t.Errorf("%d trials ended, %+v", n, ended)
	}
	contains(t, ended.Reason, "budget.when holds: trials >= 100")
}

// B-101, B-026
func TestUnboundedTrialsUnderATimeBudget(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: -1\nconcurrency: 1\nbudget: {time: 10s}\n"))
	o.Clock = clocktest.New(50)
	if ended := finish(t, o); !strings.Contains(ended.Reason, "time") || ended.Errored != 0 {
		t.Errorf("ended %+v", ended)
	}
}

// B-103
func TestConcurrencyBounds(t *testing.T) {
	for n, want := range map[int]int{0: 5, 1: 1, 3: 3} {
		o, _ := quick(t, search(fmt.Sprintf("space: {x: {uniform: [0, 1]}}\ntrials: 20\nconcurrency: %d\n", n)))
		o.Resources = "(cpu=5)"
		if got := mostRunning(t, finish(t, o).Dir); got != want {
			t.Errorf("concurrency %d: %d trials ran at a time, want %d", n, got, want)
		}
	}
}

// B-103
func TestBoundGivenTwice(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: {plugin: random, concurrency: 3}\nconcurrency: "+
		"2\n"))
	contains(t, refused(t, o), "concurrency of the searcher is 3, but concurrency is 2")
}

// B-104: first, as given, and completed by sampling.
func TestPointsComeFirst(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}, n: {int: [1, 9]}}\npoints: [{x: 0.25, n: 7}, {n: "+
		"3}]\ntrials: 4\n"))
	list := params(audit(t, finish(t, o).Dir, nil))
	if len(list) != 4 || list[0] != `{"n":7,"x":0.25}` {
		t.Fatalf("trials %v, want the given point first of 4", list)
	}
	var second struct{ X, N float64 }
	if err := json.Unmarshal([]byte(list[1]), &second); err != nil || second.N != 3 || second.X <= 0 || second.X >= 1 {
		t.Errorf("the second is %s, want n 3 and a drawn x", list[1])
	}
}

// B-104: checked against the space before anything starts.
func TestPointsAreChecked(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\npoints: [{x: 2}]\n"))
	contains(t, refused(t, o), "test.yaml:6:", "x")
}

// B-106: values that depend on others, and parameters that exist only sometimes.
func TestExpressionsAndConditions(t *testing.T) {
	o, _ := quick(t, search(`
space:
  kind: {choice: [a, b]}
  x:    {uniform: [0, 1]}
  y:    {sample: x * 2.0}
  z:    {sample: "uniform(x, 1)"}
  only: {int: [1, 3], when: kind == 'a'}
  also: {sample: only * 10, when: kind == 'a'}
trials: 20
`))
	kinds := map[string]int{}
	for _, text := range params(audit(t, finish(t, o).Dir, nil)) {
		var p struct {
			Kind       string
			X, Y, Z    float64
			Only, Also *int
		}
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		kinds[p.Kind]++
		if p.Y != 2*p.X || p.Z < p.X || p.Z > 1 {
			t.Errorf("%s: y is not 2x, or z not from x to 1", text)
		}
		if (p.Kind == "a") != (p.Only != nil) || (p.Kind == "a") != (p.Also != nil) {
			t.Errorf("%s: a conditional parameter exists where it should not, or not where it should", text)
		}
		if p.Only != nil && p.Also != nil && *p.Also != 10**p.Only {
			t.Errorf("%s: also is not ten times only", text)
		}
	}
	if len(kinds) != 2 {
		t.Errorf("kinds %v, want both", kinds)
	}
}

// B-100, B-106: the searcher grid runs every combination once, also where a condition gives one point of the
// grids more of them than another; a host that was killed on the way goes on.
func TestGridWithCondition(t *testing.T) {
	text := search("space:\n  c: {choice: [a, b, c]}\n  lr: {grid: [0.1, 0.2]}\n" +
		"  w: {int: [1, 3], when: 'lr > 0.15'}\nsearcher: grid\ntrials: 7\n")
	o, _ := quick(t, text)
	first := finish(t, o)
	o.Sets = append(o.Sets, "trials=-1")
	ended := finish(t, o)
	if ended.Dir != first.Dir {
		t.Fatalf("it did not go on: %s, then %s", first.Dir, ended.Dir)
	}
	ran := params(audit(t, ended.Dir, nil))
	slices.Sort(ran)
	if once := slices.Compact(slices.Clone(ran)); len(ran) != 12 || len(once) != 12 {
		t.Errorf("%d trials of %d combinations; want each of 12 once:\n%s", len(ran), len(once),
			strings.Join(ran, "\n"))
	}
}

// B-107: refused, the searcher named, the experiment stopped and saved.
func TestSuggestionOutsideTheSpace(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: outside\npoints: [{x: 0.5}]\ntrials: 5\n"),
		outside)
	ended := finish(t, o)
	if ended.Outcome != core.Failed {
		t.Fatalf("ended %+v", ended)
	}
	contains(t, ended.Reason, "searcher outside", "suggestion", "cannot be a trial", `"x"`)
	m := audit(t, ended.Dir, nil)
	if m.Trials() != 1 {
		t.Errorf("%d trials, want the point alone", m.Trials())
	}
}

// B-107: points of wrong dimensions are refused as well. (Fewer than asked for is "not yet": B-006.)
func TestSuggestionsOfTheWrongShape(t *testing.T) {
	wide := searcherOf("wide", func(sdk.Problem) asked {
		return func(r []sdk.Request) (answer sdk.Suggestions, _ error) {
			for range r {
				answer.Points = append(answer.Points, []float64{0.5, 0.5, 0.5})
			}
			return answer, nil
		}
	})
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: wide\ntrials: 5\n"), wide)
	o.Clock = clocktest.New(100) // it is restarted before it is given up
	ended := finish(t, o)
	if ended.Outcome != core.Failed {
		t.Fatalf("ended %+v", ended)
	}
	contains(t, ended.Reason, `searcher "wide"`)
}

// B-108: before the start.
func TestUnresolvedParameter(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}, y: {sample: z + 1.0}}\n"))
	contains(t, refused(t, o), "test.yaml:5:", "z")
}

// B-102: the same seed gives the same trials, in a process or out of it.
func TestSameSeedSameTrials(t *testing.T) {
	// One at a time: what a searcher knows when it suggests depends on which trials have ended.
	text := search("space: {x: {uniform: [0, 1]}, c: {choice: [a, b, c]}}\ntrials: 10\nconcurrency: 1\n")
	var lists [][]string
	for i := range 3 {
		o, _ := quick(t, text)
		if i == 2 {
			o, _ = quiet(t, text)
		}
		lists = append(lists, params(audit(t, finish(t, o).Dir, nil)))
	}
	if !slices.Equal(lists[0], lists[1]) || !slices.Equal(lists[0], lists[2]) {
		t.Errorf("three runs of one seed made\n%v\n%v\n%v", lists[0], lists[1], lists[2])
	}
}

// B-077: the user is told of a searcher that does not answer, before it is given up;
// then it is, however long its calls have taken.
func TestSearcherHangs(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hangs := searcherOf("hangs", func(sdk.Problem) asked {
		return func([]sdk.Request) (sdk.Suggestions, error) { <-release; return sdk.Suggestions{}, nil }
	})
	o, seen := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: hangs\ntrials: 5\ndeadlines: {suggest: "+
		"200ms}\n"), hangs)
	ended := finish(t, o)
	if ended.Outcome != core.Failed {
		t.Fatalf("ended %+v", ended)
	}
	contains(t, ended.Reason, o.File+`:6:11: searcher "hangs" failed 3 times`, "did not answer Suggest for 200ms",
		"; deadlines.suggest gives it more time")
	contains(t, seen.String(), `warning: searcher "hangs" has not answered Suggest for 100ms; it is restarted after `+
		`200ms, and given up the third time (deadlines.suggest)`)
}

// B-100: the grid axes of requests are fixed, unless the searcher declares that it combines them, whatever its name is.
func TestWhoCombinesTheGrid(t *testing.T) {
	for _, combines := range []bool{false, true} {
		var given []space.Point
		p := searcherOf("mine", func(sdk.Problem) asked {
			return func(requests []sdk.Request) (answer sdk.Suggestions, err error) {
				for _, r := range requests {
					given = append(given, r.Given)
					answer.Points = append(answer.Points, space.Point{float64(r.Trial % 2)})
				}
				return answer, nil
			}
		})
		open := p.Open
		p.Open = func(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
			s, _, err := open(problem, options)
			return s, sdk.Traits{CombinesGrid: combines}, err
		}
		o, _ := quick(t, search("space: {x: {grid: [1, 2]}}\nsearcher: mine\ntrials: 1\n"), p)
		if ended := finish(t, o); ended.Outcome != core.Finished {
			t.Fatalf("%+v", ended)
		}
		if len(given) < 2 || slices.ContainsFunc(given, func(p space.Point) bool { return (p == nil) != combines }) {
			t.Errorf("combines %v: it was given %v", combines, given)
		}
	}
}
