// Package curves reads recorded learning curves, from which simulations take what trials would have
// reported.
//
// A table is a file of JSON lines, which may be compressed with gzip. Each line is one configuration
// that was really trained:
//
//	{"params": {"lr": 0.1, "layers": 2}, "metrics": {"loss": [0.9, 0.5, 0.4]}, "seconds": [1.2, 2.3, 3.5]}
//
// metrics has the values of each metric, one for each report. seconds is the training time at each
// report, or one number for the whole training; the default is one second for each report. iterations
// has the number of each report, by default 1, 2, 3 …. failed, if present, is why the training failed
// after its last report. cut says that the training was stopped there and could have continued.
//
// The first line may say how values between configurations are found:
//
//	{"table": 1, "neighbours": 6, "epsilon": 0.001, "average": "log", "weights": {"lr": 2}}
//
// A point's curve is the average of its neighbours', weighted by 1/(d + epsilon). d is the squared
// distance in unit coordinates, with each difference multiplied by the parameter's weight (1 by
// default). Two different choices differ by 1, and so does a parameter that only one of the two points
// has. Without this line only the nearest configuration counts.
package curves

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Curve is what a trial reports.
type Curve struct {
	// Metrics are the names, in the order of the rows' values.
	Metrics []string
	Reports []Report
	// Begun is the iteration of the checkpoint that the training began from; 0: it began at the beginning.
	Begun uint64
	// Failed is why it fails after the last report, or "".
	Failed string
	// Cut says that the training was stopped and its continuation is unknown.
	Cut bool
}

// Report is one report.
type Report struct {
	Iteration uint64
	// Seconds is the training time so far.
	Seconds float64
	Values  []float64
	// Lacks says which metrics were not reported at all; nil: none. Their values are NaN.
	Lacks []bool
}

// Has reports whether the metric was reported.
func (r *Report) Has(metric int) bool { return r.Lacks == nil || !r.Lacks[metric] }

// Row is a configuration that was trained.
type Row struct {
	Point space.Point
	Curve
}

// Rule says how values between rows are found.
type Rule struct {
	Neighbours int
	Epsilon    float64
	// Log makes averages geometric.
	Log     bool
	Weights map[string]float64
}

// Table has recorded curves over a space.
type Table struct {
	space   *space.Space
	rule    Rule
	rows    []Row
	scaled  [][]float64 // seconds and values of each row, report by report, scaled for averaging
	weights []float64
	choice  []bool // which parameters are choices
	groups  []group
	by      int // the parameter that the lines of groups are sorted by
	// Untimed is how many rows have no seconds: an iteration takes one.
	Untimed int
	keys    []string        // of the rows' points
	trained map[string]bool // by key
}

// New makes a table. Rows must not be empty.
func New(s *space.Space, rule Rule, rows []Row) *Table {
	t := &Table{space: s, rule: rule, rows: rows, trained: map[string]bool{}}
	t.rule.Neighbours = min(max(1, rule.Neighbours), len(rows))
	for i := range s.Params {
		weight, ok := rule.Weights[s.Params[i].Name]
		if !ok {
			weight = 1
		}
		t.weights = append(t.weights, weight)
		t.choice = append(t.choice, s.Params[i].Kind == space.Choice)
	}
	if len(t.weights) == 0 { // the space has one point
		t.weights, t.choice = []float64{0}, []bool{false}
	}
	for _, r := range rows {
		t.scaled = append(t.scaled, t.scale(r.Reports))
		t.keys = append(t.keys, s.Key(r.Point))
		t.trained[t.keys[len(t.keys)-1]] = true
	}
	t.align()
	return t
}

// group has the rows with the same choices and the same parameters that exist, in unit coordinates (NaN: does not
// exist), sorted by their values of one parameter.
type group struct {
	class []float64
	line  []place
}

// place is a row's place on the line.
type place struct {
	at   float64 // its value of the line's parameter
	unit []float64
	row  int
}

// align sorts the rows by the number with the largest weight.
func (t *Table) align() {
	for i := range t.weights {
		if !t.choice[i] && (t.choice[t.by] || t.weights[i] > t.weights[t.by]) {
			t.by = i
		}
	}
	numbers := map[string]int{}
	for row := range t.rows {
		unit := t.unit(t.rows[row].Point)
		class := t.class(unit)
		key := fmt.Sprint(class)
		n, known := numbers[key]
		if !known {
			n, numbers[key] = len(t.groups), len(t.groups)
			t.groups = append(t.groups, group{class: class})
		}
		t.groups[n].line = append(t.groups[n].line, place{unit[t.by], unit, row})
	}
	for _, g := range t.groups {
		slices.SortFunc(g.line, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	}
}

// class returns a point in unit coordinates with 0 for each number that exists. The distance of two classes
// is the part of the distance of their points that choices make, and parameters that only one of them has:
// never more than the whole.
func (t *Table) class(u []float64) []float64 {
	c := slices.Clone(u)
	for i, x := range c {
		if !t.choice[i] && x == x {
			c[i] = 0
		}
	}
	return c
}

// Rows returns how many configurations there are.
func (t *Table) Rows() int { return len(t.rows) }

// Points returns the configurations.
func (t *Table) Points() []space.Point {
	points := make([]space.Point, len(t.rows))
	for i, r := range t.rows {
		points[i] = r.Point
	}
	return points
}

func (t *Table) unit(p space.Point) []float64 {
	u := make([]float64, len(t.weights))
	for i, x := range p {
		u[i] = x // a choice is its number
		if !t.choice[i] {
			u[i] = t.space.ToUnit(i, x)
		}
	}
	return u
}

// Course is the curve of any point. Reports are computed on demand: most trials are stopped early.
type Course struct {
	table *Table
	first *Curve      // the nearest
	near  []neighbour // all that are averaged; nil: only the nearest
	len   int
	own   bool
}

// Course returns the curve of a point.
func (t *Table) Course(p space.Point) Course { return t.course(p, t.space.Key(p)) }

// course is Course of a point whose key is known.
func (t *Table) course(p space.Point, key string) Course {
	near := t.nearest(t.unit(p))
	c := Course{table: t, first: &t.rows[near[0].row].Curve, own: t.trained[key]}
	c.len = len(c.first.Reports)
	if len(near) > 1 {
		c.near, c.len = near, t.shares(near)
	}
	return c
}

// CourseOf returns the curve of a trial of a record whose rows are its trials, in their order: its own one, or that of
// its point if it has another point. Trials may have the same point and other curves.
func (t *Table) CourseOf(trial int, p space.Point) Course {
	key := t.space.Key(p)
	if trial >= len(t.rows) || t.keys[trial] != key {
		return t.course(p, key)
	}
	own := &t.rows[trial].Curve
	return Course{table: t, first: own, len: len(own.Reports), own: true}
}

// Own reports whether the point was trained; others have the curves of those near them.
func (c *Course) Own() bool { return c.own }

// Metrics returns the names, in the order of a report's values.
func (c *Course) Metrics() []string { return c.first.Metrics }

// Failed returns why the nearest configuration failed, or "".
func (c *Course) Failed() string { return c.first.Failed }

// Cut reports whether the nearest configuration was cut (see [Curve]).
func (c *Course) Cut() bool { return c.first.Cut }

// Len returns how many reports there are.
func (c *Course) Len() int { return c.len }

// Iteration returns the iteration of report k.
func (c *Course) Iteration(k int) uint64 { return c.first.Reports[k].Iteration }

// Trained returns how many iterations were trained for report k since the one before it.
func (c *Course) Trained(k int) uint64 {
	before := c.first.Begun
	if k > 0 {
		before = c.first.Reports[k-1].Iteration
	}
	return c.first.Reports[k].Iteration - before
}

// Seconds returns the training time at report k.
func (c *Course) Seconds(k int) float64 {
	if c.near == nil {
		return c.first.Reports[k].Seconds
	}
	return math.Exp(c.mean(k, 0))
}

// Has reports whether report k has a metric, by its place among Metrics.
func (c *Course) Has(k, metric int) bool { return c.near != nil || c.first.Reports[k].Has(metric) }

// Value returns a metric, by its place among Metrics, at report k.
func (c *Course) Value(k, metric int) float64 {
	switch {
	case c.near == nil:
		return c.first.Reports[k].Values[metric]
	case c.table.rule.Log:
		return math.Exp(c.mean(k, 1+metric))
	}
	return c.mean(k, 1+metric)
}

// mean returns the weighted mean of the neighbours' i-th number at report k.
func (c *Course) mean(k, i int) (sum float64) {
	at := k*(1+len(c.first.Metrics)) + i
	for _, n := range c.near {
		sum += n.share * c.table.scaled[n.row][at]
	}
	return sum
}

type neighbour struct {
	row      int
	distance float64
	share    float64 // of the average
}

// nearest returns the neighbours of a point, the nearest first; of equally near ones the first rows. It begins with the
// rows of the point's own class: usually all others are farther than these.
func (t *Table) nearest(u []float64) []neighbour {
	near, class := make([]neighbour, 0, t.rule.Neighbours+1), t.class(u)
	own := slices.IndexFunc(t.groups, func(g group) bool { return t.distance(class, g.class, 0) == 0 })
	if own >= 0 {
		near = t.nearer(near, t.groups[own].line, u)
	}
	for i, g := range t.groups {
		if far := t.far(near); i != own && t.distance(class, g.class, far) <= far {
			near = t.nearer(near, g.line, u)
		}
	}
	return near
}

// far returns the distance of the last neighbour, if there are enough.
func (t *Table) far(near []neighbour) float64 {
	if len(near) < t.rule.Neighbours {
		return math.Inf(1)
	}
	return near[len(near)-1].distance
}

// nearer adds rows that are nearer than the last neighbours. It walks the line in both directions, until the line's
// parameter alone makes all further rows too far.
func (t *Table) nearer(near []neighbour, line []place, u []float64) []neighbour {
	after := sort.Search(len(line), func(i int) bool { return line[i].at >= u[t.by] })
	before := after - 1
	left, right := t.apart(line, before, u), t.apart(line, after, u)
	for range line {
		i, least := after, right
		if after == len(line) || left < right {
			i, least = before, left
			before--
			left = t.apart(line, before, u)
		} else {
			after++
			right = t.apart(line, after, u)
		}
		full, far := len(near) == t.rule.Neighbours, t.far(near)
		if full && least > far {
			break
		}
		n := neighbour{row: line[i].row, distance: t.distance(u, line[i].unit, far)}
		if full && n.compare(near[len(near)-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(near, n, neighbour.compare)
		near = slices.Insert(near, at, n)
		near = near[:min(len(near), t.rule.Neighbours)]
	}
	return near
}

// apart returns how far a point and the i-th row are apart by the line's parameter alone; beyond the
// line's ends there are no rows.
func (t *Table) apart(line []place, i int, u []float64) float64 {
	if i < 0 || i >= len(line) {
		return math.Inf(1)
	}
	d := min(math.Abs(line[i].at-u[t.by]), 1)
	return t.weights[t.by] * d * d
}

func (n neighbour) compare(o neighbour) int {
	if c := cmp.Compare(n.distance, o.distance); c != 0 {
		return c
	}
	return cmp.Compare(n.row, o.row)
}

// distance returns the distance of two points, or any number above far if it is more than that.
func (t *Table) distance(a, b []float64, far float64) (sum float64) {
	for i, weight := range t.weights {
		d := math.Abs(a[i] - b[i])
		switch {
		case d != d: // one of them does not exist, or both
			if d = 1; a[i] != a[i] && b[i] != b[i] {
				d = 0
			}
		case t.choice[i]:
			d = min(d, 1)
		}
		if sum += weight * d * d; sum > far {
			return sum
		}
	}
	return sum
}

// scale returns the numbers of reports in a row: the logarithms of seconds, and the values or their
// logarithms. Only averages need them.
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

// shares sets each neighbour's share of the average, and returns how many reports all of them have.
func (t *Table) shares(near []neighbour) int {
	reports, weights := math.MaxInt, 0.0
	for _, n := range near {
		reports, weights = min(reports, len(t.rows[n.row].Reports)), weights+t.weight(n)
	}
	for i := range near {
		near[i].share = t.weight(near[i]) / weights
	}
	return reports
}

func (t *Table) weight(n neighbour) float64 { return 1 / (n.distance + t.rule.Epsilon) }
