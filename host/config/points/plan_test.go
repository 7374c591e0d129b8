package points

import (
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk"
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
}
