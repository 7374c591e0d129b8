package plot

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
)

// mostObjectives is how many objectives pareto draws, each against each.
const mostObjectives = 4

// pareto draws the objectives against each other.
func pareto(s *sources) (*figure.Figure, error) {
	e := s.list[0]
	o := e.Objectives()
	if len(o) < 2 {
		return nil, wrong("%s: pareto needs two objectives; there is one", e.Place())
	}
	front, err := e.Front(view.Last)
	if err != nil {
		return nil, err
	}
	if len(front) == 0 {
		return nil, fmt.Errorf("%s: no trial has a finite value of each objective yet", e.Place())
	}
	f := &figure.Figure{Title: s.title("Pareto front"), Notes: []string{fmt.Sprintf("%d on the front", len(front))}}
	if len(o) > mostObjectives {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %d objectives", mostObjectives, len(o)))
		o = o[:mostObjectives]
	}
	others, err := dominated(e, o, front, f)
	if err != nil {
		return nil, err
	}
	for i := range o {
		for j := i + 1; j < len(o); j++ {
			f.Panels = append(f.Panels, against(o[i], o[j], others, front, len(e.Objectives()) == 2))
		}
	}
	f.Keys = append(f.Keys, figure.Key{Name: "on the front", Shape: figure.Dots, Style: frontStyle},
		figure.Key{Name: "other " + (&samples{e: e}).thing(), Shape: figure.Dots, Style: otherStyle})
	if slices.ContainsFunc(others, hasFailed) {
		f.Keys = append(f.Keys, failedKey)
	}
	return f, nil
}

var (
	frontStyle = figure.Style{Colour: figure.Vermillion, Marker: figure.Triangle}
	otherStyle = figure.Style{Colour: figure.Sky, Marker: figure.Circle}
)

// dominated returns the trials that are not on the front.
func dominated(e *view.Recorded, o []core.Objective, front []view.Trial, f *figure.Figure) (list []view.Trial,
	err error) {
	x := samples{e: e}
	failed, without := 0, 0
	all, err := compared(e, f)
	if err != nil {
		return nil, err
	}
	for t := range all {
		switch {
		case slices.ContainsFunc(front, func(x view.Trial) bool { return x.Number == t.Number }):
		case !complete(&t, o):
			without++
		default:
			list = append(list, t)
			failed += failure(t.State)
		}
	}
	if e.Repeated() {
		without = suggestions(e) - len(list) - len(front)
	}
	x.note(failed, failedLater)
	x.note(without, "without a finite value of each objective: left out")
	if n := len(list); n > mostSamples {
		for i := range mostSamples {
			list[i] = list[i*n/mostSamples]
		}
		list = list[:mostSamples]
		x.notes = append(x.notes, fmt.Sprintf("%d of %s that are not on it", mostSamples, x.counted(n)))
	}
	f.Notes = append(f.Notes, x.notes...)
	return list, nil
}

// compared are the trials or, if they have several runs, the suggestions with their means.
func compared(e *view.Recorded, f *figure.Figure) (iter.Seq[view.Trial], error) {
	if e.Repeated() {
		f.Notes = append(f.Notes, meansNote)
		list, err := e.Means(e.Objectives()...)
		return slices.Values(list), err
	}
	return func(yield func(view.Trial) bool) {
		for no := range core.TrialNo(e.Count()) {
			if !yield(e.Brief(no)) {
				return
			}
		}
	}, nil
}

func complete(t *view.Trial, o []core.Objective) bool {
	for _, x := range o {
		if v, ok := t.Metric(x.Metric); !ok || !finite(v) {
			return false
		}
	}
	return true
}

func against(a, b core.Objective, others, front []view.Trial, line bool) figure.Panel {
	place := func(t *view.Trial) figure.Point {
		x, _ := t.Metric(a.Metric)
		y, _ := t.Metric(b.Metric)
		return figure.Point{X: x, Y: y}
	}
	best := places(front, place)
	failed, rest := places(only(others, true), place), places(only(others, false), place)
	p := figure.Panel{}
	var xs, ys []float64
	for _, q := range slices.Concat(best, failed, rest) {
		xs, ys = append(xs, q.X), append(ys, q.Y)
	}
	p.X, p.Y = valueAxis(label(a), xs), valueAxis(label(b), ys)
	if rest != nil {
		p.Marks = append(p.Marks, figure.Mark{Shape: figure.Dots, Points: rest, Style: otherStyle})
	}
	if failed != nil {
		p.Marks = append(p.Marks, figure.Mark{Shape: figure.Dots, Points: failed, Style: failedKey.Style})
	}
	if line {
		p.Marks = append(p.Marks, figure.Mark{Shape: figure.Line, Points: stairs(best, a.Mode),
			Style: figure.Style{Colour: frontStyle.Colour, Dash: figure.Dashed}})
	}
	p.Marks = append(p.Marks, figure.Mark{Shape: figure.Dots, Points: best, Style: frontStyle})
	return p
}

func hasFailed(t view.Trial) bool { return t.State == core.Errored }

// only are the trials that have failed, or those that have not.
func only(list []view.Trial, failed bool) (some []view.Trial) {
	for _, t := range list {
		if hasFailed(t) == failed {
			some = append(some, t)
		}
	}
	return some
}

func places(list []view.Trial, of func(*view.Trial) figure.Point) (points []figure.Point) {
	for i := range list {
		points = append(points, of(&list[i]))
	}
	return points
}

// stairs connects the front: between two trials of it nothing better was found than the worse of both.
func stairs(front []figure.Point, mode stat.Mode) (line []figure.Point) {
	list := slices.Clone(front)
	slices.SortFunc(list, func(a, b figure.Point) int { return cmp.Compare(a.X, b.X) })
	for i, p := range list {
		switch {
		case i == 0:
		case mode == stat.Max:
			line = append(line, figure.Point{X: list[i-1].X, Y: p.Y})
		default:
			line = append(line, figure.Point{X: p.X, Y: list[i-1].Y})
		}
		line = append(line, p)
	}
	return line
}
