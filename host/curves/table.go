// Package curves has recorded learning curves, from which simulations take what trials
// would have reported.
//
// A table is a file of JSON lines, which may be compressed with gzip. Each line is one
// configuration that was really trained:
//
//	{"params": {"lr": 0.1, "layers": 2}, "metrics": {"loss": [0.9, 0.5, 0.4]}, "seconds": [1.2, 2.3, 3.5]}
//
// metrics has the values of each metric, one for each report. seconds is the training
// time at each report, or one number: that of the whole training; a second for each
// report without it. iterations has the number of each report, 1, 2, 3 … without it.
// failed, if there, is why the training failed after its last report. cut says that
// it was stopped there and would have gone on.
//
// The first line may say how values between configurations are found:
//
//	{"table": 1, "neighbours": 6, "epsilon": 0.001, "average": "log", "weights": {"lr": 2}}
//
// A point's curve is the average of its neighbours', weighted by 1/(d + epsilon). d is the squared
// distance in unit coordinates, each difference multiplied by the parameter's weight (1 if none is
// given); two different choices, and a parameter that only one of the two has, differ by 1. Without
// this line the nearest configuration counts alone.
package curves

import (
	"cmp"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Curve is what a trial reports.
type Curve struct {
	// Metrics are the names, in the order of the rows' values.
	Metrics []string
	Reports []Report
	// Failed is why it fails after the last report, or "".
	Failed string
	// Cut: nobody knows how it would have gone on.
	Cut bool
}

// Report is one of them.
type Report struct {
	Iteration uint64
	// Seconds is the training time by then.
	Seconds float64
	Values  []float64
}

// Row is a configuration that was trained.
type Row struct {
	Point space.Point
	Curve
}

// Rule says how values between rows are found.
type Rule struct {
	Neighbours int
	Epsilon    float64
	// Log: averages are geometric.
	Log     bool
	Weights map[string]float64
}

// Table is recorded curves over a space.
type Table struct {
	space   *space.Space
	rule    Rule
	rows    []Row
	units   [][]float64 // the rows in unit coordinates; NaN: does not exist
	scaled  [][]float64 // of each row all seconds and values, report by report, as they are averaged
	weights []float64
}

// New makes a table. Rows must not be empty.
func New(s *space.Space, rule Rule, rows []Row) *Table {
	t := &Table{space: s, rule: rule, rows: rows, weights: make([]float64, len(s.Params))}
	t.rule.Neighbours = min(max(1, rule.Neighbours), len(rows))
	for i := range s.Params {
		t.weights[i] = 1
		if w, ok := rule.Weights[s.Params[i].Name]; ok {
			t.weights[i] = w
		}
	}
	for _, r := range rows {
		t.units = append(t.units, t.unit(r.Point))
		t.scaled = append(t.scaled, t.scale(r.Reports))
	}
	return t
}

// Rows is how many configurations there are.
func (t *Table) Rows() int { return len(t.rows) }

// Points are the configurations.
func (t *Table) Points() []space.Point {
	points := make([]space.Point, len(t.rows))
	for i, r := range t.rows {
		points[i] = r.Point
	}
	return points
}

func (t *Table) unit(p space.Point) []float64 {
	u := make([]float64, len(p))
	for i, x := range p {
		u[i] = x // choices by their number
		if t.space.Params[i].Kind != space.Choice {
			u[i] = t.space.ToUnit(i, x)
		}
	}
	return u
}

// Curve is that of a point.
func (t *Table) Curve(p space.Point) Curve {
	near := t.nearest(t.unit(p))
	if len(near) == 1 {
		return t.rows[near[0].row].Curve
	}
	return t.average(near)
}

type neighbour struct {
	row      int
	distance float64
}

// nearest are the neighbours of a point, the nearest first, of equal ones the first
// rows.
func (t *Table) nearest(u []float64) []neighbour {
	near := make([]neighbour, 0, t.rule.Neighbours+1)
	for i := range t.rows {
		d := t.distance(u, t.units[i])
		if len(near) == t.rule.Neighbours && d >= near[len(near)-1].distance {
			continue
		}
		at, _ := slices.BinarySearchFunc(near, d, func(n neighbour, d float64) int {
			return cmp.Or(cmp.Compare(n.distance, d), -1) // after its equals
		})
		near = slices.Insert(near, at, neighbour{i, d})
		near = near[:min(len(near), t.rule.Neighbours)]
	}
	return near
}

func (t *Table) distance(a, b []float64) (sum float64) {
	for i := range a {
		d := math.Abs(a[i] - b[i])
		switch {
		case a[i] != a[i] || b[i] != b[i]:
			if d = 1; a[i] != a[i] && b[i] != b[i] {
				d = 0
			}
		case t.space.Params[i].Kind == space.Choice:
			d = min(d, 1)
		}
		sum += t.weights[i] * d * d
	}
	return sum
}

// scale is the numbers of reports in a row: the logarithms of seconds, and the values
// or their logarithms. They are needed for averages alone.
func (t *Table) scale(reports []Report) (list []float64) {
	if t.rule.Neighbours == 1 {
		return nil
	}
	for _, r := range reports {
		list = append(list, math.Log(max(r.Seconds, 1e-6)))
		for _, x := range r.Values {
			if t.rule.Log {
				x = math.Log(max(x, 1e-12))
			}
			list = append(list, x)
		}
	}
	return list
}

// average is as long as the shortest of the neighbours' curves.
func (t *Table) average(near []neighbour) Curve {
	first := t.rows[near[0].row].Curve
	c := Curve{Metrics: first.Metrics, Failed: first.Failed, Cut: first.Cut}
	sums := t.mean(near)
	width := 1 + len(c.Metrics)
	for k := range len(sums) / width {
		at := sums[k*width : (k+1)*width]
		for i := range at {
			if i == 0 || t.rule.Log {
				at[i] = math.Exp(at[i])
			}
		}
		c.Reports = append(c.Reports, Report{Iteration: first.Reports[k].Iteration, Seconds: at[0], Values: at[1:]})
	}
	return c
}

// mean is the weighted mean of the neighbours' numbers.
func (t *Table) mean(near []neighbour) []float64 {
	length, weights := math.MaxInt, 0.0
	for _, n := range near {
		length, weights = min(length, len(t.scaled[n.row])), weights+t.weight(n)
	}
	sums := make([]float64, length)
	for _, n := range near {
		w := t.weight(n) / weights
		for i, x := range t.scaled[n.row][:length] {
			sums[i] += w * x
		}
	}
	return sums
}

func (t *Table) weight(n neighbour) float64 { return 1 / (n.distance + t.rule.Epsilon) }
