package plot

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/host/plot/figure"
)

const (
	// mostRulers is how many parameters parallel draws.
	mostRulers = 9
	// mostLines is how many trials it draws.
	mostLines = 1000
	// belowAxis is the place of trials that do not have a parameter.
	belowAxis = -0.08
)

// parallel draws each trial as a line through its parameters to its value.
func parallel(s *sources) (*figure.Figure, error) {
	x, err := s.samples()
	if err != nil {
		return nil, err
	}
	params, err := s.chosen(x, mostRulers)
	if err != nil {
		return nil, err
	}
	f := &figure.Figure{Title: s.title("Trials through their parameters"), Keys: append(gradedKeys(x, figure.Line),
		figure.Key{Name: "best " + x.thing(), Shape: figure.Line, Style: figure.Style{Colour: bestStyle.Colour,
			Width: bestStyle.Width}})}
	p := figure.Panel{X: figure.Axis{Low: 0, High: float64(len(params)), Hidden: true},
		Y: figure.Axis{Low: 0, High: 1, Hidden: true}}
	for i, param := range params {
		p.Rulers = append(p.Rulers, figure.Ruler{At: float64(i), Axis: x.paramAxis(param)})
	}
	p.Rulers = append(p.Rulers, figure.Ruler{At: float64(len(params)), Axis: valueAxis(x.short[len(x.params)],
		x.values())})
	notes := x.missing(params)
	if notes != nil {
		p.Y.Low = 1.5 * belowAxis
		notes = append(notes, "a line below an axis: the trial does not have the parameter")
	}
	x.thinLines()
	p.Marks = x.lines(&p, params)
	f.Notes, f.Panels = append(x.notes, notes...), []figure.Panel{p}
	return f, nil
}

// thinLines keeps so many trials that lines can be told apart.
func (x *samples) thinLines() {
	n := len(x.list)
	if n <= mostLines {
		return
	}
	order := x.ranked()
	best, rest := slices.Clone(order[:mostLines/4]), order[mostLines/4:]
	for i := range mostLines - len(best) {
		best = append(best, rest[i*len(rest)/(mostLines-mostLines/4)])
	}
	var list []sample
	for _, at := range best {
		list = append(list, x.list[at])
	}
	x.list = list
	x.note(mostLines, "are drawn, the best among them")
}

// lines has a mark for each colour, the worst first.
func (x *samples) lines(p *figure.Panel, params []int) []figure.Mark {
	marks := make([]figure.Mark, figure.Steps)
	order := x.ranked()
	for _, at := range slices.Backward(order) {
		t := &x.list[at]
		step := min(int(t.rank*figure.Steps), figure.Steps-1)
		m := &marks[figure.Steps-1-step]
		m.Shape, m.Style = figure.Line, figure.Style{Colour: figure.Graded(t.rank), Width: 0.8}
		m.Points = append(append(m.Points, through(p, t, params)...), figure.Point{X: math.NaN(), Y: math.NaN()})
	}
	marks = slices.DeleteFunc(marks, func(m figure.Mark) bool { return m.Points == nil })
	return append(marks, figure.Mark{Shape: figure.Line, Points: through(p, &x.list[order[0]], params),
		Style: figure.Style{Colour: bestStyle.Colour, Width: bestStyle.Width}})
}

// through returns the places of a trial on all axes.
func through(p *figure.Panel, t *sample, params []int) (points []figure.Point) {
	for i, param := range params {
		y := belowAxis
		if v := t.point[param]; finite(v) {
			y = p.Rulers[i].Axis.At(v)
		}
		points = append(points, figure.Point{X: float64(i), Y: y})
	}
	n := len(params)
	return append(points, figure.Point{X: float64(n), Y: p.Rulers[n].Axis.At(t.value)})
}
