package plot

import (
	"math"

	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
)

// cells is how many cells a numeric axis of a contour has.
const cells = 28

// contour draws the value over two parameters: cells in the colour that trials nearby have, and the trials. Cells far
// from all trials stay blank: nothing is known there.
func contour(s *sources) (*figure.Figure, error) {
	x, err := s.samples()
	if err != nil {
		return nil, err
	}
	a, b, err := s.pair(x)
	if err != nil {
		return nil, err
	}
	p := figure.Panel{X: x.paramAxis(a), Y: x.paramAxis(b)}
	at := func(t *sample) figure.Point { return figure.Point{X: t.point[a], Y: t.point[b]} }
	dots := figure.Mark{Shape: figure.Dots, Style: figure.Style{Colour: figure.Black, Marker: figure.Plus}}
	var grid field
	for i := range x.list {
		if q := at(&x.list[i]); finite(q.X) && finite(q.Y) {
			if !x.list[i].failed {
				dots.Points = append(dots.Points, q)
			}
			grid = append(grid, spot{p.X.At(q.X), p.Y.At(q.Y), x.list[i].rank})
		}
	}
	p.Marks = append(append(append(grid.marks(&p), dots), failedDots(x, at)...), bestDot(x, at)...)
	f := &figure.Figure{Title: s.title(label(x.Objective)), Panels: []figure.Panel{p},
		Notes: append(append(x.notes, "between trials the colour is estimated; far from all of them there is none"),
			x.missing([]int{a, b})...),
		Keys: append(append(append(gradedKeys(x, figure.Boxes), figure.Key{Name: x.thing(), Shape: figure.Dots,
			Style: dots.Style}), failedKeys(x)...), x.bestKey())}
	return f, nil
}

// pair returns the two parameters: those that the user named, else the two that matter most.
func (s *sources) pair(x *samples) (a, b int, err error) {
	if n := len(s.Params); n != 0 && n != 2 {
		return 0, 0, wrong("plot: contour needs two parameters, as in --params a,b; found %d", n)
	}
	if len(x.params) < 2 {
		return 0, 0, wrong("%s: contour needs two searched parameters; there is %d", x.e.Place(), len(x.params))
	}
	if len(s.Params) == 0 {
		if shares, _, err := x.e.Importance(view.Query{Metric: s.Metric, Mode: s.Mode}, bestShare); err == nil &&
			len(shares) > 1 {
			first := *s
			first.Params = []string{shares[0].Param, shares[1].Param}
			s = &first
		}
	}
	list, err := s.chosen(x, 2)
	if err != nil {
		return 0, 0, err
	}
	return list[0], list[1], nil
}

// spot is a trial's place in a panel, from 0 to 1, with its rank.
type spot struct{ x, y, rank float64 }

// field estimates ranks between trials.
type field []spot

// marks returns cells, those of a colour in one mark.
func (f field) marks(p *figure.Panel) (marks []figure.Mark) {
	by := map[figure.Colour]*figure.Mark{}
	nx, ny := cellsOf(&p.X), cellsOf(&p.Y)
	for i := range nx {
		for j := range ny {
			x, y := (float64(i)+0.5)/float64(nx), (float64(j)+0.5)/float64(ny)
			rank, near := f.at(x, y, p.X.Names != nil, p.Y.Names != nil)
			if !near {
				continue
			}
			c := figure.Graded(rank)
			if by[c] == nil {
				by[c] = &figure.Mark{Shape: figure.Boxes, Style: figure.Style{Colour: c, Faint: true}}
			}
			by[c].Points = append(by[c].Points, corner(p, i, nx, j, ny), corner(p, i+1, nx, j+1, ny))
		}
	}
	for step := range figure.Steps {
		if m := by[figure.Graded((float64(step)+0.5)/figure.Steps)]; m != nil {
			marks = append(marks, *m)
		}
	}
	return marks
}

func cellsOf(a *figure.Axis) int {
	if a.Names != nil {
		return len(a.Names)
	}
	return cells
}

func corner(p *figure.Panel, i, nx, j, ny int) figure.Point {
	return figure.Point{X: p.X.Value(float64(i) / float64(nx)), Y: p.Y.Value(float64(j) / float64(ny))}
}

// reach is how far from one of n trials a colour is drawn, as a share of a panel: less far where there are many. The
// dashboard has the same (host/web/src/plot/scatter.tsx).
func reach(n int) float64 { return max(0.04, min(0.12, 0.8/math.Sqrt(float64(n)))) }

// at returns the mean rank of trials, weighted by their nearness. Along an axis of categories only those of the same
// category count. near is false if none of them is within reach.
func (f field) at(x, y float64, sameX, sameY bool) (rank float64, near bool) {
	const narrow, half = 1e-4, 0.5
	sum, weights, least, n := 0.0, 0.0, math.Inf(1), 0
	for _, s := range f {
		dx, dy := s.x-x, s.y-y
		if sameX && math.Abs(dx) > 1e-9 || sameY && math.Abs(dy) > 1e-9 {
			continue
		}
		d := dx*dx + dy*dy
		least, n = min(least, d), n+1
		w := 1 / math.Pow(d+narrow, 1+half)
		sum, weights = sum+w*s.rank, weights+w
	}
	return sum / weights, least <= reach(n)*reach(n)
}
