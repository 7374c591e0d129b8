package points

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-100, B-104: points of the user are combinations of the grid, each of which runs as often as it should. What has no
// place in the grid comes on top.
func TestPointsAreOfTheGrid(t *testing.T) {
	for _, c := range []struct {
		points string
		repeat int // of the grid
		want   int // trials
	}{
		{"[]", 1, 6},
		{"[{x: 2, n: 2}, {x: 0}]", 1, 6},
		{"[{x: 2, n: 2}, {x: 0}, {x: 0}, {x: 0}, {n: 1}, {}]", 1, 7},
		{"[{x: 2, n: 2}, {x: 2, n: 2}]", 1, 7},
		{"[{x: 2, n: 2}, {x: 2, n: 2}]", 2, 12},
		{"[{}, {}, {}, {}, {}, {}, {}]", 1, 7},
	} {
		e, err := config.Parse("e", fmt.Appendf(nil, `version: 1
objective: {metric: a, mode: min}
trainable: {plugin: chaos}
space: {x: {grid: [0, 1, 2]}, n: {grid: [1, 2]}, u: {uniform: [0, 1]}}
trials: %d
points: %s
`, c.repeat, c.points))
		if err != nil {
			t.Fatal(err)
		}
		p := NewPlan(e)
		if got := p.Trials(); got != int64(c.want) {
			t.Errorf("%s: %d trials, want %d", c.points, got, c.want)
		}
		runs := map[string]int{}
		for i := range e.Points {
			runs[fmt.Sprint(p.Given(i)[:2])]++
		}
		for _, q := range p.Requests(sdk.Traits{}, 1, core.AskSearcher{Count: c.want - len(e.Points)}) {
			runs[fmt.Sprint(q.Given[:2])]++
		}
		if len(runs) != 6 {
			t.Errorf("%s: %v", c.points, runs)
		}
		for _, n := range runs {
			if n < c.repeat {
				t.Errorf("%s: %v, each should run %d times", c.points, runs, c.repeat)
			}
		}
	}
}

// Experiments that were recorded before keep what they had.
func TestPointsOfOldRecords(t *testing.T) {
	e, err := config.Parse("e", []byte(`version: 1
objective: {metric: a, mode: min}
trainable: {plugin: chaos}
space: {x: {grid: [0, 1, 2]}}
points: [{x: 2}, {x: 2}]
`), config.Recorded(3))
	if err != nil {
		t.Fatal(err)
	}
	p := NewPlan(e)
	if q := p.Requests(sdk.Traits{}, 1, core.AskSearcher{Count: 1}); p.Trials() != 3 || q[0].Given[0] != 0 {
		t.Errorf("%d trials, the first has %v", p.Trials(), q[0].Given)
	}
	uneven, err := config.Parse("e", []byte(`version: 1
objective: {metric: a, mode: min}
trainable: {plugin: chaos}
space: {x: {grid: [0, 1, 2]}, y: {grid: [0, 1], when: x == 0}}
constraints: [x != 1]
`), config.Recorded(4))
	if err != nil {
		t.Fatal(err)
	}
	if n := NewPlan(uneven).Trials(); n != 6 {
		t.Errorf("%d trials", n)
	}
}

// B-100: what conditions and constraints rule out is no part of the grid, and each combination that is left runs once.
func TestGridHasWhatCanBe(t *testing.T) {
	for _, c := range []struct {
		keys string
		want []string // what trials have, in order
	}{
		{"space: {a: {grid: [1, 3]}, b: {grid: [1, 3]}}\nconstraints: ['a != b']", []string{"1 3", "3 1"}},
		{"space: {a: {grid: [1, 3, 4]}, b: {grid: [1, 3]}}\nconstraints: ['a != b']\ntrials: 2",
			[]string{"1 3", "3 1", "4 1", "4 3", "1 3", "3 1", "4 1", "4 3"}},
		{"space: {a: {grid: [1, 3]}, b: {grid: [1, 3]}, c: {uniform: [0, 1]}}\nconstraints: ['a > b']",
			[]string{"3 1"}},
		{"space: {a: {grid: [1, 3]}, b: {grid: [1, 3]}, c: {uniform: [0, 1]}}\nconstraints: ['a + c > b + 1']",
			[]string{"3 1"}},
		{"space: {a: {grid: [1, 3]}, b: {grid: [1, 2, 3], when: 'a == 1'}}", []string{"1 1", "1 2", "1 3", "3 -"}},
		{"space: {a: {grid: [x, y]}, b: {grid: [1, 2, 3], when: 'a.startsWith(\"x\")'}}",
			[]string{"x 1", "x 2", "x 3", "y -"}},
		{"space: {a: {grid: [x, y]}, b: {grid: [1, 2]}}\nconstraints: ['a.startsWith(\"x\") || b > 1']",
			[]string{"x 1", "x 2", "y 2"}},
		{"space: {a: {grid: [1, 3]}, b: {grid: [1, 3]}}\nconstraints: ['a != b']\npoints: [{a: 3}]",
			[]string{"3 1", "1 3"}},
		{"space: {a: {grid: [1, 3]}, b: {grid: [1, 2], when: 'a == 1'}}\npoints: [{a: 3}, {a: 3}]",
			[]string{"3 -", "3 -", "1 1", "1 2"}},
	} {
		e, err := config.Parse("e", []byte("version: 1\nobjective: {metric: x, mode: min}\n"+
			"trainable: {plugin: chaos}\n"+c.keys+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, got := NewPlan(e), []string{}
		for i := range e.Points {
			g, err := p.Trial(1, i)
			got = append(got, shown(t, g, err))
		}
		for i, q := range p.Requests(sdk.Traits{}, 1, core.AskSearcher{Count: int(p.Trials()) - len(e.Points)}) {
			whole, err := e.Space.SampleGiven(space.NewRand(1), q.Given)
			if err != nil {
				t.Fatal(c.keys, err)
			}
			g, err := Suggest(e, 1, uint64(i), whole)
			got = append(got, shown(t, g, err))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.keys, got, c.want)
		}
	}
}

// limitless is the last version of the reading rules by which a grid has no limits.
const limitless = 5

// gridPlan is the plan of axes of ten values each.
func gridPlan(t *testing.T, axes int, keys string, reading int) *Plan {
	t.Helper()
	text := "version: 1\nobjective: {metric: x, mode: min}\ntrainable: {plugin: chaos}\nspace:\n"
	for i := range axes {
		text += fmt.Sprintf("  %c: {grid: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n", 'a'+i)
	}
	e, err := config.Parse("e", []byte(text+keys+"\n"), config.Recorded(reading))
	if err != nil {
		t.Fatal(err)
	}
	return NewPlan(e)
}

// B-100: what constraints leave of a large grid is told where that is possible, also if only the host can check them,
// and however many combinations they rule out; else the plan says that it cannot tell.
func TestLargeGrids(t *testing.T) {
	for _, c := range []struct {
		axes int
		keys string
		want uint64
		many bool
	}{
		{9, "constraints: [a + b + c + d + e + f + g + h + i < 9]", 0, false},
		{9, "constraints: [a + b + c + d + e + f + g + h + i < 12]\npoints: [{a: 1}, {a: 3}, {a: 9}]", 55, false},
		{9, "constraints: ['(a * b + c * d + e * f + g * h + i) % 7 == 3']", 1_000_000_000, true},
		{2, "constraints: ['pow(a, b) < 3.0']", 11, false},
		{3, "constraints: ['sqrt(a + b + c) < 1.9']", 1, false},
		{3, "  u: {uniform: [0, 1]}\nconstraints: ['sqrt(a + b + c) < 1.9']", 1000, true},
		{3, "  u: {uniform: [0, 1]}\nconstraints: ['a + b + c + u < 3.5']", 1, false},
		{1, "  u: {sample: 'uniform(0, 1)'}\nconstraints: ['a + u < 3']", 2, false},
		{2, "  u: {sample: 'a * b'}\nconstraints: ['u < 3']", 3, false},
		{2, "  u: {sample: 'a * b'}\nconstraints: ['u > 100']", 0, false},
		{5, "constraints: ['sqrt(a + b + c + d + e) < 10.0']", 100_000, true},
	} {
		p := gridPlan(t, c.axes, c.keys, config.Reading)
		if got := p.Combinations(); got != c.want || p.TooMany() != c.many {
			t.Errorf("%s: %d combinations, %v; want %d, %v", c.keys, got, p.TooMany(), c.want, c.many)
		}
	}
	sum := "constraints: [a + b + c + d + e + f + g + h + i < 9]"
	if p := gridPlan(t, 9, sum, limitless); p.Combinations() != 1_000_000_000 || p.TooMany() {
		t.Errorf("an old record: %d combinations, %v", p.Combinations(), p.TooMany())
	}
}

// What the space can tell alone is not calculated for each combination again: a host makes a plan several times.
func TestPlansAreQuick(t *testing.T) {
	p := gridPlan(t, 3, "constraints: ['a != b']", config.Reading)
	if n := testing.AllocsPerRun(3, func() { NewPlan(p.e) }); n > float64(p.Combinations()) {
		t.Errorf("%v allocations for %d combinations", n, p.Combinations())
	}
}

// shown returns a and b of a trial.
func shown(t *testing.T, g core.Suggestion, err error) string {
	t.Helper()
	values := map[string]any{"b": "-"}
	if err = errors.Join(err, json.Unmarshal(g.Params, &values)); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(values["a"], " ", values["b"])
}

// Points beyond the number of trials are planned, so that what is planned runs; not in records from before.
func TestMorePointsThanTrials(t *testing.T) {
	for reading, want := range map[int]int64{config.Reading: 3, 4: 2} {
		e, err := config.Parse("e", []byte("version: 1\nobjective: {metric: x, mode: min}\n"+
			"trainable: {plugin: chaos}\nspace: {a: {uniform: [0, 9]}}\ntrials: 2\n"+
			"points: [{a: 2}, {a: 3}, {a: 4}]\n"), config.Recorded(reading))
		if err != nil {
			t.Fatal(err)
		}
		if got := NewPlan(e).Trials(); got != want {
			t.Errorf("reading %d: %d trials are planned, want %d", reading, got, want)
		}
	}
}
