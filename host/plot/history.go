package plot

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
)

// mostPoints is how many points of a curve are drawn.
const mostPoints = 2000

// history draws the value of each trial in the order in which trials ended, and the best so far.
func history(s *sources) (*figure.Figure, error) {
	o, err := s.common()
	if err != nil {
		return nil, err
	}
	f := &figure.Figure{Title: s.title("Best " + figure.Short(o.Metric, nameColumns) + " so far")}
	p := figure.Panel{}
	var values, ended []float64
	for i, e := range s.list {
		x, err := e.Improving(view.Query{Metric: s.Metric, Mode: s.Mode}, mostPoints)
		if err != nil {
			return nil, wrong("%w", err)
		}
		f.Notes = append(f.Notes, thinnedNote(s, e, len(x.Steps), x.Total)...)
		f.Notes = append(f.Notes, rerunNote(s, e, x.Rerun)...)
		for _, step := range x.Steps {
			values, ended = append(values, float64(step.Value)), append(ended, float64(step.Ended))
		}
		if len(s.list) == 1 {
			p.Marks, f.Keys = single((&samples{e: e}).thing(), x.Steps)
			continue
		}
		m := bestLine(x.Steps, figure.Nth(i))
		p.Marks = append(p.Marks, m)
		f.Keys = append(f.Keys, figure.Key{Name: s.name(e), Shape: m.Shape, Style: m.Style})
	}
	p.X, p.Y = countAxis("trials that ended", append(ended, 0)...), valueAxis(label(o), values)
	f.Panels = []figure.Panel{p}
	return f, nil
}

func thinnedNote(s *sources, e *view.Recorded, shown, total int) []string {
	if shown == total {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d of %s, all improvements among them", s.name(e), shown, counted(total))}
}

// rerunNote says where trials are that have ended several times.
func rerunNote(s *sources, e *view.Recorded, n int) (notes []string) {
	if e.Repeated() {
		notes = append(notes, prefixed(s, e, meansNote))
	}
	if n > 0 {
		notes = append(notes, prefixed(s, e, counted(n)+" ended more than once: the last end counts"))
	}
	return notes
}

// single draws each trial, and the best so far.
func single(thing string, steps []view.ImprovingAt) (marks []figure.Mark, keys []figure.Key) {
	groups := []struct {
		name  string
		style figure.Style
		list  []figure.Point
	}{
		{name: thing, style: figure.Style{Colour: figure.Sky, Marker: figure.Circle}},
		{name: failedKey.Name, style: failedKey.Style},
		{name: "not ended yet", style: figure.Style{Colour: figure.Orange, Marker: figure.Triangle}},
	}
	for _, x := range steps {
		g := &groups[0]
		switch {
		case x.State == core.Errored.String():
			g = &groups[1]
		case x.Running:
			g = &groups[2]
		}
		g.list = append(g.list, figure.Point{X: float64(x.Ended), Y: float64(x.Value)})
	}
	for _, g := range groups {
		if g.list != nil {
			marks = append(marks, figure.Mark{Shape: figure.Dots, Points: g.list, Style: g.style})
			keys = append(keys, figure.Key{Name: g.name, Shape: figure.Dots, Style: g.style})
		}
	}
	best := bestLine(steps, figure.Style{Colour: figure.Blue, Width: 2})
	return append(marks, best), append(keys, figure.Key{Name: "best so far", Shape: best.Shape, Style: best.Style})
}

// bestLine has a step for each improvement.
func bestLine(steps []view.ImprovingAt, style figure.Style) figure.Mark {
	m := figure.Mark{Shape: figure.Line, Style: style}
	for i, x := range steps {
		at := figure.Point{X: float64(x.Ended), Y: float64(x.Best)}
		switch {
		case i == 0:
		case x.Best != steps[i-1].Best:
			m.Points = append(m.Points, figure.Point{X: at.X, Y: float64(steps[i-1].Best)})
		case i < len(steps)-1:
			continue
		}
		m.Points = append(m.Points, at)
	}
	return m
}
