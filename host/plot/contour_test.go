package plot_test

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/host/plot"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
)

// A contour has colours where trials are, and none far from all of them.
func TestContourIsBlankFarFromTrials(t *testing.T) {
	k, err := plot.Find("contour", 1, plot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Draw([]*view.Recorded{wrote(t, "rich", rich, richly)},
		plot.Options{Params: []string{"lr", "dropout"}, Top: 5})
	if err != nil {
		t.Fatal(err)
	}
	panel := p.Figure.Panels[0]
	place := func(q figure.Point) (x, y float64) { return panel.X.At(q.X), panel.Y.At(q.Y) }
	var trials, cells [][2]float64
	for _, m := range panel.Marks {
		for i := 0; i < len(m.Points); i++ {
			x, y := place(m.Points[i])
			switch {
			case m.Shape == figure.Boxes:
				i++
				x2, y2 := place(m.Points[i])
				cells = append(cells, [2]float64{(x + x2) / 2, (y + y2) / 2})
			case m.Style.Marker == figure.Plus:
				trials = append(trials, [2]float64{x, y})
			}
		}
	}
	if len(trials) != 5 || len(cells) == 0 {
		t.Fatalf("%d trials and %d cells are drawn", len(trials), len(cells))
	}
	for _, c := range cells {
		if d := away(c, trials); d > 0.12+1e-9 {
			t.Errorf("a cell at %.2v has a colour, and the nearest trial is %.2f away", c, d)
		}
	}
	for _, at := range trials {
		if away(at, cells) > 0.03 {
			t.Errorf("there is no colour at the trial at %.2v", at)
		}
	}
}

// away is how far the nearest of a list is.
func away(from [2]float64, list [][2]float64) float64 {
	least := math.Inf(1)
	for _, at := range list {
		least = min(least, math.Hypot(at[0]-from[0], at[1]-from[1]))
	}
	return least
}
