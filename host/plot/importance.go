package plot

import (
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
)

// mostBars is how many parameters importance draws.
const mostBars = 30

// bestShare is the share of trials that count as the best, as in `tunehost importance`.
const bestShare = 0.1

// importance draws a bar for each parameter, the most important at the top.
func importance(s *sources) (*figure.Figure, error) {
	e := s.list[0]
	o, err := s.objective(e)
	if err != nil {
		return nil, err
	}
	shares, trials, err := e.Importance(view.Query{Metric: s.Metric, Mode: s.Mode}, bestShare)
	switch {
	case err != nil:
		return nil, wrong("%w", err)
	case shares == nil:
		return nil, fmt.Errorf("%s: %s", e.Place(), e.FewForImportance(trials))
	}
	f := &figure.Figure{Title: s.title("Importance for " + figure.Short(o.Metric, nameColumns)),
		Notes: []string{"from " + e.Compared(trials)}}
	if len(shares) > mostBars {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %d parameters", mostBars, len(shares)))
		shares = shares[:mostBars]
	}
	f.Panels = []figure.Panel{bars(shares)}
	return f, nil
}

func bars(shares []view.Share) figure.Panel {
	slices.Reverse(shares) // the first category is at the bottom
	var params, names []string
	for _, x := range shares {
		params = append(params, x.Param)
	}
	params = figure.Distinct(params, nameColumns)
	m := figure.Mark{Shape: figure.Boxes, Style: figure.Style{Colour: figure.Blue}}
	most := 0.0
	for i, x := range shares {
		names = append(names, fmt.Sprintf("%s  %.0f %%", params[i], 100*float64(x.Importance)))
		m.Points = append(m.Points, figure.Point{X: 0, Y: float64(i) - 0.35},
			figure.Point{X: float64(x.Importance), Y: float64(i) + 0.35})
		most = max(most, float64(x.Importance))
	}
	return figure.Panel{X: figure.Axis{Label: "share of the importance", Low: 0, High: max(most*1.04, 0.01)},
		Y: figure.Categories("", names), Marks: []figure.Mark{m}}
}
