package curves

import (
	"bytes"
	"compress/gzip"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var nan = math.NaN()

func mixed() *space.Space {
	s := &space.Space{Params: []space.Param{
		{Name: "x", Kind: space.Real, High: 10},
		{Name: "kind", Kind: space.Choice, Choices: [][]byte{[]byte(`"a"`), []byte(`"b"`), []byte(`"c"`)}},
		{Name: "deep", Kind: space.Real, High: 1},
	}}
	s.Params[2].When = &space.Expr{Op: space.In, Param: 1, Set: []int{2}}
	return s
}

const lines = `{"params": {"x": 0, "kind": "a"}, "metrics": {"loss": [4, 2], "acc": [0.1, "NaN"]}, "seconds": 6}

{"params": {"x": 10, "kind": "a"}, "metrics": {"acc": [0.5, 0.6], "loss": [1, 0.5]}, "seconds": [1, 5], ` +
	`"iterations": [5, 10], "cut": true}
{"params": {"x": 1, "kind": "c", "deep": 0.5}, "metrics": {"acc": [0.7], "loss": [9]}, "failed": "exploded"}
`

func read(t *testing.T, text string) *Table {
	t.Helper()
	table, err := Read(strings.NewReader(text), mixed())
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestNearestAlone(t *testing.T) {
	table := read(t, lines)
	c := table.Course(space.Point{7, 0, nan})
	if !slices.Equal(c.Metrics(), []string{"acc", "loss"}) || !c.Cut() || c.Len() != 2 || c.Iteration(1) != 10 ||
		c.Seconds(1) != 5 || c.Value(1, 1) != 0.5 {
		t.Errorf("%+v", c)
	}
	c = table.Course(space.Point{2, 0, nan})
	if c.Len() != 2 || c.Seconds(0) != 3 || c.Iteration(1) != 2 || !math.IsNaN(c.Value(1, 0)) {
		t.Errorf("%+v", c)
	}
	// The branch counts: c is nearer to c, though x is far.
	if c = table.Course(space.Point{9, 2, 0.4}); c.Failed() != "exploded" {
		t.Errorf("%+v", c)
	}
	if table.Rows() != 3 || len(table.Points()) != 3 {
		t.Error(table.Rows())
	}
}

// Averages are as the definition says, computed by hand.
func TestAverage(t *testing.T) {
	header := `{"table": 1, "neighbours": 2, "epsilon": 0.5, "average": "log", "weights": {"x": 4}}` + "\n"
	two := strings.Replace(lines[:strings.LastIndex(lines, `{"params"`)], `"NaN"`, "0.2", 1)
	table := read(t, header+two)
	// In unit coordinates of x: 0.25 from the first, 0.75 from the second.
	a, b := 1/(4*0.0625+0.5), 1/(4*0.5625+0.5)
	want := math.Exp((a*math.Log(2) + b*math.Log(0.5)) / (a + b))
	c := table.Course(space.Point{2.5, 0, nan})
	if got := c.Value(1, 1); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	seconds := math.Exp((a*math.Log(6) + b*math.Log(5)) / (a + b))
	if got := c.Seconds(1); math.Abs(got-seconds) > 1e-12 {
		t.Errorf("%v, want %v", got, seconds)
	}
	table = read(t, strings.Replace(header, "log", "mean", 1)+two)
	want = (a*2 + b*0.5) / (a + b)
	c = table.Course(space.Point{2.5, 0, nan})
	if got := c.Value(1, 1); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}

// A space without parameters has one point.
func TestNoParameters(t *testing.T) {
	table, err := Read(strings.NewReader(`{"params": {}, "metrics": {"loss": [4, 2]}}`), &space.Space{})
	if err != nil {
		t.Fatal(err)
	}
	if c := table.Course(space.Point{}); c.Len() != 2 || c.Value(1, 0) != 2 {
		t.Errorf("%+v", c)
	}
}

func TestCompressed(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(lines)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if table, err := Read(&b, mixed()); err != nil || table.Rows() != 3 {
		t.Error(err)
	}
}

// Some editors begin a file with a byte order mark.
func TestByteOrderMark(t *testing.T) {
	if table := read(t, "\ufeff"+lines); table.Rows() != 3 {
		t.Errorf("%d rows", table.Rows())
	}
}

func TestMistakes(t *testing.T) {
	row := `{"params": {"x": 0, "kind": "a"}, "metrics": {"loss": [4, 2]}}` + "\n"
	for text, want := range map[string]string{
		"": "1: the table has no configuration",
		row + `{"parms": {}}`: `2: the key "parms" is unknown; write {"params": {"lr": 0.1}, "metrics": {"loss": ` +
			`[0.9, 0.5]}}, and perhaps seconds, iterations, failed or cut`,
		row + "{": `2: it is not JSON: unexpected EOF; write {"params": `,
		row + `{"params": {"x": 0, "kind": "a"}, "metrics": {"loss": 1}}`: "2: metrics: found a number where it " +
			"does not belong; ",
		row + "3":                           "2: the line: found a number where it does not belong; ",
		`{"table": 2}`:                      "1: it is a table of version 2; this tunehost reads version 1",
		row + `{"table": 1}`:                "2: the line that says how values are found must come first",
		`{"table": 1, "neighbours":3}`:      "1: more than one neighbour need an epsilon above 0, for example 0.001",
		`{"table": 1, "average":"x"}`:       `1: average is "x"; it is mean or log`,
		`{"table": 1, "weights":{"y":1}}`:   `1: it has a weight for "y", which is not a parameter of the space`,
		`{"table": 1, "weights":{"x":-1}}`:  `1: the weight of "x" is negative`,
		`{"params": {"x": 0, "kind": "a"}}`: "1: the configuration has no metrics",
		`{"params": {"x": 11, "kind": "a"}, "metrics": {"loss": [1]}}`: "x",
		row + `{"params": {"x": 0, "kind": "a"}, "metrics": {"los": [4, 2]}}`: `2: its metrics are ["los"], but ` +
			`earlier lines have ["loss"]`,
		`{"params": {"x": 0, "kind": "a"}, "metrics": {"a": [4, 2], "b": [1]}}`: "has",
		`{"params": {"x": 0, "kind": "a"}, "metrics": {"a": [4, 2]}, "seconds": [1]}`: "1: seconds must be a " +
			"number, or a list of 2",
		`{"params": {"x": 0, "kind": "a"}, "metrics": {"a": [4, 2]}, "seconds": [2, 1]}`: "1: its seconds are " +
			"negative or go back",
		`{"params": {"x": 0, "kind": "a"}, "metrics": {"a": [4, 2]}, "iterations": [1]}`: "1: it has 1 iterations " +
			"for 2 values",
		`{"params": {"x": 0, "kind": "a"}, "metrics": {"a": [4]}, "iterations": [2, 1]}`: "1: it has 2 iterations " +
			"for 1 values",
		`{"params": {"x": 0, "kind": "a"}, "metrics": {"a": [4,1]}, "iterations": [2,1]}`: "1: its iterations go back",
	} {
		if _, err := Read(strings.NewReader(text), mixed()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// The nearest rows are those that sorting finds.
func TestNearestIsNearest(t *testing.T) {
	s := &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, High: 1},
		{Name: "y", Kind: space.Real, High: 1}}}
	rng := space.NewRand(1)
	var rows []Row
	for range 200 {
		p, _ := s.Sample(rng)
		rows = append(rows, Row{Point: space.Point{math.Round(p[0]*8) / 8, math.Round(p[1]*8) / 8}})
	}
	table := New(s, Rule{Neighbours: 7, Epsilon: 1}, rows)
	for range 100 {
		p, _ := s.Sample(rng)
		var all []neighbour
		for i, r := range rows {
			all = append(all, neighbour{row: i, distance: math.Pow(p[0]-r.Point[0], 2) + math.Pow(p[1]-r.Point[1], 2)})
		}
		slices.SortStableFunc(all, func(a, b neighbour) int {
			if math.Abs(a.distance-b.distance) < 1e-12 {
				return 0
			}
			return int(math.Copysign(1, a.distance-b.distance))
		})
		for k, n := range table.nearest(table.unit(p)) {
			if n.row != all[k].row {
				t.Fatalf("%d: row %d, want %d", k, n.row, all[k].row)
			}
		}
	}
}

// Choices and parameters that only some rows have do not change which rows are the nearest, whatever they weigh.
func TestNearestOfClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := &space.Space{Params: []space.Param{{Name: "kind", Kind: space.Choice, Choices: make([][]byte, 3)},
		{Name: "x", Kind: space.Real, High: 1}, {Name: "y", Kind: space.Real, High: 1}}}
	point := func() space.Point {
		p := space.Point{float64(rng.IntN(3)), math.Round(rng.Float64()*8) / 8, rng.Float64()}
		for i := range p {
			if rng.IntN(3) == 0 {
				p[i] = nan
			}
		}
		return p
	}
	for _, weights := range []map[string]float64{nil, {"kind": 0.01, "y": 0.1}, {"kind": 0, "x": 2}} {
		var rows []Row
		for range 200 {
			rows = append(rows, Row{Point: point()})
		}
		table := New(s, Rule{Neighbours: 1 + rng.IntN(20), Epsilon: 1, Weights: weights}, rows)
		for range 200 {
			u := table.unit(point())
			var all []neighbour
			for row := range rows {
				v := table.unit(rows[row].Point)
				all = append(all, neighbour{row: row, distance: table.distance(u, v, math.Inf(1))})
			}
			slices.SortFunc(all, neighbour.compare)
			if near := table.nearest(u); !slices.Equal(near, all[:len(near)]) {
				t.Fatalf("%v with weights %v: %v, want %v", u, weights, near, all[:len(near)])
			}
		}
	}
}
