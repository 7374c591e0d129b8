package plot

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
)

// mostStretches is how many parts of trials lineage draws.
const mostStretches = 2000

// lineage draws each part of a trial's training with constant parameters, and from which it continued.
func lineage(s *sources) (*figure.Figure, error) {
	e := s.list[0]
	l, err := e.Lineage()
	if err != nil {
		return nil, err
	}
	if len(l.Stretches) == 0 {
		return nil, fmt.Errorf("%s: there are no trials yet", e.Place())
	}
	f := &figure.Figure{Title: s.title("Which trials continued from others")}
	if !l.Branches() {
		f.Notes = append(f.Notes, "no trial has continued from another, or with other parameters")
	}
	list := l.Stretches
	if len(list) > mostStretches {
		f.Notes = append(f.Notes, fmt.Sprintf("the first %d of %d parts of training", mostStretches, len(list)))
		list = list[:mostStretches]
	}
	p := familyAxes(list)
	t := &family{list: list, ranks: stretchRanks(list, e.Objectives()[0].Mode)}
	p.Marks = append(t.bars(), t.links()...)
	for _, best := range l.Best() {
		if best >= len(list) {
			continue
		}
		end := figure.Point{X: float64(list[best].To), Y: float64(list[best].Trial)}
		p.Marks = append(p.Marks, t.line(best), figure.Mark{Shape: figure.Dots, Points: []figure.Point{end},
			Style: bestStyle})
	}
	f.Panels, f.Keys = []figure.Panel{p}, t.keys(e.Objectives()[0])
	return f, nil
}

func familyAxes(list []view.Stretch) figure.Panel {
	last, trials := 0.0, core.TrialNo(0)
	for _, x := range list {
		last, trials = max(last, float64(x.To)), max(trials, x.Trial)
	}
	return figure.Panel{X: figure.Axis{Label: "iteration", Whole: true, High: max(last*1.03, 1)},
		Y: figure.Axis{Label: "trial", Whole: true, Reversed: true, Low: -0.8, High: float64(trials) + 0.8}}
}

// family are the stretches that are drawn, with the share of those that are better.
type family struct {
	list  []view.Stretch
	ranks map[int]float64
}

// stretchRanks ranks the stretches with a value.
func stretchRanks(list []view.Stretch, mode stat.Mode) map[int]float64 {
	var order []int
	for i, x := range list {
		if x.Known {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return stat.Compare(list[a].Value, list[b].Value, mode) })
	ranks := map[int]float64{}
	for i, at := range order {
		ranks[at] = float64(i) / float64(max(len(order)-1, 1))
	}
	return ranks
}

// bars has a mark for each colour.
func (t *family) bars() (marks []figure.Mark) {
	by := map[figure.Colour]int{}
	for i, x := range t.list {
		c := figure.Grey
		if rank, ok := t.ranks[i]; ok {
			c = figure.Graded(rank)
		}
		at, ok := by[c]
		if !ok {
			at = len(marks)
			by[c] = at
			marks = append(marks, figure.Mark{Shape: figure.Boxes, Style: figure.Style{Colour: c}})
		}
		y := float64(x.Trial)
		marks[at].Points = append(marks[at].Points, figure.Point{X: float64(x.From), Y: y - 0.22},
			figure.Point{X: float64(x.To), Y: y + 0.22})
	}
	return marks
}

// links connects each stretch with that of the trial that it continued from.
func (t *family) links() []figure.Mark {
	lines := figure.Mark{Shape: figure.Line, Style: figure.Style{Colour: figure.Black, Width: 0.8}}
	ends := figure.Mark{Shape: figure.Dots, Style: figure.Style{Colour: figure.Black, Marker: figure.Triangle}}
	for i := range t.list {
		if x := &t.list[i]; x.Parent >= 0 {
			to := figure.Point{X: float64(x.From), Y: float64(x.Trial)}
			ends.Points = append(ends.Points, to)
			lines.Points = append(lines.Points, figure.Point{X: to.X, Y: float64(t.list[x.Parent].Trial)}, to,
				figure.Point{X: math.NaN(), Y: math.NaN()})
		}
	}
	if ends.Points == nil {
		return nil
	}
	return []figure.Mark{lines, ends}
}

// line is how the best stretch came about.
func (t *family) line(best int) figure.Mark {
	m := figure.Mark{Shape: figure.Line, Style: figure.Style{Colour: bestStyle.Colour, Width: bestStyle.Width}}
	for at := best; at >= 0; at = t.list[at].Parent {
		x := &t.list[at]
		end := x.To
		if n := len(m.Points); n > 0 {
			end = uint64(m.Points[n-1].X)
		}
		m.Points = append(m.Points, figure.Point{X: float64(end), Y: float64(x.Trial)},
			figure.Point{X: float64(x.From), Y: float64(x.Trial)})
	}
	slices.Reverse(m.Points)
	return m
}

func (t *family) keys(o core.Objective) []figure.Key {
	keys := []figure.Key{{Name: "how the best came about", Shape: figure.Line,
		Style: figure.Style{Colour: bestStyle.Colour, Width: bestStyle.Width}},
		{Name: "best", Shape: figure.Dots, Style: bestStyle},
		{Name: "good " + figure.Short(o.Metric, nameColumns), Shape: figure.Boxes, Style: figure.Style{
			Colour: figure.Graded(0)}},
		{Name: "bad", Shape: figure.Boxes, Style: figure.Style{Colour: figure.Graded(1)}}}
	if slices.ContainsFunc(t.list, func(x view.Stretch) bool { return x.Parent >= 0 }) {
		keys = append(keys, figure.Key{Name: "continues from", Shape: figure.Dots, Style: figure.Style{
			Colour: figure.Black, Marker: figure.Triangle}})
	}
	return keys
}
