package plot

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/storage/naming"
)

// wideRange is the ratio of values from which an axis of values is logarithmic.
const wideRange = 1000

// valueAxis is an axis of values of a metric.
func valueAxis(label string, values []float64) figure.Axis {
	a := figure.Axis{Label: label}
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if finite(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	a.Log = low > 0 && high/low > wideRange
	a.Fit(values...)
	return a
}

// countAxis is an axis of whole numbers.
func countAxis(label string, values ...float64) figure.Axis {
	a := figure.Axis{Label: label, Whole: true}
	a.Fit(values...)
	return a
}

// paramAxis is the axis of a parameter: as wide as its bounds, and wider if trials have values outside of them.
func (x *samples) paramAxis(param int) figure.Axis {
	p, name, values := &x.params[param], x.short[param], x.column(param)
	if p.Choices != nil {
		return figure.Categories(name, choiceNames(p.Choices))
	}
	a := figure.Axis{Label: name, Log: p.Log, Whole: p.Type == "int"}
	if p.Low != nil && p.High != nil {
		values = append([]float64{float64(*p.Low), float64(*p.High)}, values...)
	}
	if a.Log {
		a.Log = positive(values)
	}
	a.Fit(values...)
	return a
}

func positive(values []float64) bool {
	for _, v := range values {
		if v <= 0 {
			return false
		}
	}
	return true
}

// choiceColumns is how long the name of a category may be.
const choiceColumns = 14

// choiceNames returns the texts of choices, as tables have them.
func choiceNames(list []json.RawMessage) (names []string) {
	choices := make([][]byte, len(list))
	for i, raw := range list {
		choices[i] = raw
	}
	tell := naming.Teller(choices)
	for _, raw := range list {
		if v, err := expr.FromJSON(raw); err == nil {
			names = append(names, tell(v))
		} else {
			names = append(names, string(raw))
		}
	}
	return figure.Distinct(names, choiceColumns)
}

// gradedKeys explains the colours of values.
func gradedKeys(x *samples, shape figure.Shape) (keys []figure.Key) {
	order := x.ranked()
	if len(order) == 0 {
		return nil
	}
	for i, name := range []string{"best", "median", "worst"} {
		s := x.list[order[i*(len(order)-1)/2]]
		keys = append(keys, figure.Key{Name: name + " " + figure.Number(s.value), Shape: shape, Style: figure.Style{
			Colour: figure.Graded(s.rank), Marker: figure.Circle, Width: 1.5, Faint: shape == figure.Boxes}})
	}
	return keys
}

// gradedDots are the samples as dots in the colours of their ranks, the best on top.
func gradedDots(x *samples, at func(*sample) figure.Point) (marks []figure.Mark) {
	for step := figure.Steps - 1; step >= 0; step-- {
		m := figure.Mark{Shape: figure.Dots, Style: figure.Style{Marker: figure.Circle,
			Colour: figure.Graded((float64(step) + 0.5) / figure.Steps)}}
		for i := range x.list {
			p := at(&x.list[i])
			if !x.list[i].failed && figure.Graded(x.list[i].rank) == m.Style.Colour && finite(p.X) && finite(p.Y) {
				m.Points = append(m.Points, p)
			}
		}
		if m.Points != nil {
			marks = append(marks, m)
		}
	}
	return append(append(marks, failedDots(x, at)...), bestDot(x, at)...)
}

// failedDots mark the samples that have failed after their value.
func failedDots(x *samples, at func(*sample) figure.Point) []figure.Mark {
	m := figure.Mark{Shape: figure.Dots, Style: failedKey.Style}
	for i := range x.list {
		if p := at(&x.list[i]); x.list[i].failed && finite(p.X) && finite(p.Y) {
			m.Points = append(m.Points, p)
		}
	}
	if m.Points == nil {
		return nil
	}
	return []figure.Mark{m}
}

// failedKey is how trials that have failed after their value are marked in all plots.
var failedKey = figure.Key{Name: "failed after this value", Shape: figure.Dots,
	Style: figure.Style{Colour: figure.Vermillion, Marker: figure.Cross}}

// failedKeys explain failedDots, where there are any.
func failedKeys(x *samples) []figure.Key {
	if slices.ContainsFunc(x.list, func(s sample) bool { return s.failed }) {
		return []figure.Key{failedKey}
	}
	return nil
}

// bestDot marks the best sample.
func bestDot(x *samples, at func(*sample) figure.Point) []figure.Mark {
	best := &x.list[x.ranked()[0]]
	p := at(best)
	if !finite(p.X) || !finite(p.Y) {
		return nil
	}
	return []figure.Mark{{Shape: figure.Dots, Points: []figure.Point{p}, Style: bestStyle}}
}

// bestStyle is how the best is marked in all plots.
var bestStyle = figure.Style{Colour: figure.Vermillion, Marker: figure.Diamond, Width: 2.5}
