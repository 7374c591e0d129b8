package plot

import (
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
)

// edf draws the share of trials that are at least as good as a value.
func edf(s *sources) (*figure.Figure, error) {
	o, err := s.common()
	if err != nil {
		return nil, err
	}
	f := &figure.Figure{Title: s.title("Share of trials with a value at least as good")}
	p := figure.Panel{}
	var values []float64
	for i, e := range s.list {
		one := &sources{[]*view.Recorded{e}, s.Options}
		x, err := one.samples()
		if err != nil {
			return nil, err
		}
		for _, n := range x.notes {
			f.Notes = append(f.Notes, prefixed(s, e, n))
		}
		values = append(values, x.values()...)
		style := figure.Nth(i)
		p.Marks = append(p.Marks, figure.Mark{Shape: figure.Line, Points: shares(x.values(), o.Mode), Style: style})
		f.Keys = append(f.Keys, figure.Key{Name: fmt.Sprintf("%s, %s", s.name(e), x.counted(len(x.list))),
			Shape: figure.Line, Style: style})
	}
	p.X, p.Y = valueAxis(label(o), values), figure.Axis{Label: "share of trials", Low: 0, High: 1.02}
	f.Panels = []figure.Panel{p}
	return f, nil
}

// prefixed says of which experiment a note is, if there are several.
func prefixed(s *sources, e *view.Recorded, note string) string {
	if len(s.list) == 1 {
		return note
	}
	return s.name(e) + ": " + note
}

// shares returns the steps of the share of values that are at least as good as each value.
func shares(values []float64, mode stat.Mode) (list []figure.Point) {
	slices.SortFunc(values, func(a, b float64) int { return stat.Compare(a, b, mode) })
	list = []figure.Point{{X: values[0]}}
	for i, v := range values {
		if i > 0 {
			list = append(list, figure.Point{X: v, Y: float64(i) / float64(len(values))})
		}
		list = append(list, figure.Point{X: v, Y: float64(i+1) / float64(len(values))})
	}
	return list
}
