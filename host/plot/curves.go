package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
)

// Limits of learning curves.
const (
	mostCurves  = 300
	curvePoints = 150
	// mostRungs is how many iterations are marked at which a scheduler has stopped trials.
	mostRungs = 12
)

// curves draws the learning curve of each trial, how it ended, and the rungs of the scheduler.
func curves(s *sources) (*figure.Figure, error) {
	e := s.list[0]
	o, err := s.objective(e)
	if err != nil {
		return nil, err
	}
	x, err := e.LearningCurves(view.CurvesQuery{Metric: o.Metric, Points: curvePoints, Trials: 0})
	if err != nil {
		return nil, wrong("%w", err)
	}
	space, err := e.Space()
	if err != nil {
		return nil, err
	}
	c := &curveset{Objective: o}
	if c.best, err = s.bestRuns(o); err != nil {
		return nil, err
	}
	c.take(x.Trials, s.Top)
	f := &figure.Figure{Title: s.title("Learning curves"), Notes: c.notes}
	p := figure.Panel{X: countAxis("iteration", c.iterations...), Y: valueAxis(label(o), c.values)}
	c.draw(&p, f)
	rungs(&p, f, space.Rungs)
	f.Panels = []figure.Panel{p}
	return f, nil
}

// curveset are the curves that are drawn, the best first.
type curveset struct {
	core.Objective
	list []view.LearningCurve
	// best has the runs of the best suggestion; nil if suggestions have one run each: the best curve is the first.
	best               *view.Ranked
	notes              []string
	iterations, values []float64
}

// bestRuns returns the best suggestion if there are several runs of each.
func (s *sources) bestRuns(o core.Objective) (*view.Ranked, error) {
	e := s.list[0]
	if !e.Repeated() {
		return nil, nil
	}
	best, _, err := e.Best(view.Query{Metric: o.Metric, Mode: o.Mode.String()})
	return &best, err
}

// isBest says that a curve is the best one, or one of the best suggestion.
func (c *curveset) isBest(i int) bool {
	return c.best == nil && i == 0 || c.best != nil && slices.Contains(c.best.MeanOf, c.list[i].Number)
}

// take keeps the best if there are very many. Trials that have failed count with what they have reported.
func (c *curveset) take(all []view.LearningCurve, top int) {
	failed := 0
	for _, t := range all {
		if len(t.Values) == 0 {
			continue
		}
		if c.list = append(c.list, t); t.State == core.Errored.String() {
			failed++
		}
	}
	if failed > 0 {
		c.notes = append(c.notes, counted(failed)+" "+failedLater)
	}
	slices.SortStableFunc(c.list, func(a, b view.LearningCurve) int {
		return cmp.Or(c.behind(a)-c.behind(b), stat.Compare(last(a), last(b), c.Mode))
	})
	if n := len(c.list); top > 0 && n > top {
		c.list = c.list[:top]
		c.notes = append(c.notes, fmt.Sprintf("the best %d of %s", top, counted(n)))
	}
	c.thin()
	for _, t := range c.list {
		for i := range t.Values {
			c.iterations = append(c.iterations, float64(t.Iterations[i]))
			c.values = append(c.values, float64(t.Values[i]))
		}
	}
}

// behind is 0 for the runs of the best suggestion, and 1 for others.
func (c *curveset) behind(t view.LearningCurve) int {
	if c.best != nil && slices.Contains(c.best.MeanOf, t.Number) {
		return 0
	}
	return 1
}

func (c *curveset) thin() {
	n := len(c.list)
	if n <= mostCurves {
		return
	}
	best, rest := c.list[:mostCurves/4:mostCurves/4], c.list[mostCurves/4:]
	for i := range mostCurves - len(best) {
		best = append(best, rest[i*len(rest)/(mostCurves-mostCurves/4)])
	}
	c.list = best
	c.notes = append(c.notes, fmt.Sprintf("%d of %s, the best among them", len(best), counted(n)))
}

func last(t view.LearningCurve) float64 { return float64(t.Values[len(t.Values)-1]) }

// draw draws the worst first, so that the best is on top.
func (c *curveset) draw(p *figure.Panel, f *figure.Figure) {
	stopped := figure.Mark{Shape: figure.Dots, Style: figure.Style{Colour: figure.Black, Marker: figure.Cross}}
	failed := figure.Mark{Shape: figure.Dots, Style: failedKey.Style}
	for i, t := range slices.Backward(c.list) {
		style := figure.Style{Colour: figure.Graded(float64(i) / float64(max(len(c.list)-1, 1))), Width: 1}
		if c.isBest(i) {
			style = figure.Style{Colour: bestStyle.Colour, Width: bestStyle.Width}
		}
		points := curvePointsOf(t)
		p.Marks = append(p.Marks, figure.Mark{Shape: figure.Line, Points: points, Style: style})
		if len(points) == 1 && t.State != core.Errored.String() {
			p.Marks = append(p.Marks, figure.Mark{Shape: figure.Dots, Points: points, Style: figure.Style{
				Colour: style.Colour, Marker: figure.Circle}})
		}
		switch end := points[len(points)-1]; {
		case t.Stopped:
			stopped.Points = append(stopped.Points, end)
		case t.State == core.Errored.String():
			failed.Points = append(failed.Points, end)
		}
	}
	f.Keys = c.keys()
	if stopped.Points != nil {
		p.Marks = append(p.Marks, stopped)
		f.Keys = append(f.Keys, figure.Key{Name: "stopped early", Shape: figure.Dots, Style: stopped.Style})
	}
	if failed.Points != nil {
		p.Marks = append(p.Marks, failed)
		f.Keys = append(f.Keys, failedKey)
	}
}

func curvePointsOf(t view.LearningCurve) (points []figure.Point) {
	for i, v := range t.Values {
		y := float64(v)
		if math.IsInf(y, 0) {
			y = math.NaN()
		}
		points = append(points, figure.Point{X: float64(t.Iterations[i]), Y: y})
	}
	return points
}

func (c *curveset) keys() (keys []figure.Key) {
	if len(c.list) == 0 {
		return nil
	}
	name := fmt.Sprintf("best: trial %d", c.list[0].Number)
	if c.best != nil {
		name = fmt.Sprintf("best: suggestion %d", c.best.Suggestion)
	}
	keys = []figure.Key{{Name: name, Shape: figure.Line,
		Style: figure.Style{Colour: bestStyle.Colour, Width: bestStyle.Width}}}
	if len(c.list) > 2 {
		keys = append(keys, figure.Key{Name: "good", Shape: figure.Line, Style: figure.Style{Colour: figure.Graded(0)}},
			figure.Key{Name: "bad", Shape: figure.Line, Style: figure.Style{Colour: figure.Graded(1)}})
	}
	return keys
}

// rungs marks iterations at which the scheduler has stopped or paused trials.
func rungs(p *figure.Panel, f *figure.Figure, list []view.Rung) {
	if len(list) == 0 || len(list) > mostRungs {
		return
	}
	style := figure.Style{Colour: figure.Grey, Dash: figure.Dashed, Faint: true}
	m := figure.Mark{Shape: figure.Line, Style: style}
	for _, r := range list {
		x := float64(r.Iteration)
		m.Points = append(m.Points, figure.Point{X: x, Y: p.Y.Low}, figure.Point{X: x, Y: p.Y.High},
			figure.Point{X: math.NaN(), Y: math.NaN()})
	}
	p.Marks = append([]figure.Mark{m}, p.Marks...)
	f.Keys = append(f.Keys, figure.Key{Name: "the scheduler stops or pauses", Shape: figure.Line, Style: style})
}
