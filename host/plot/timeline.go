package plot

import (
	"fmt"

	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
)

// mostRows is how many trials timeline draws.
const mostRows = 400

// phases are the states of a trial's time. They differ in height, and so without colour.
var phases = []struct {
	name   string
	colour figure.Colour
	height float64
}{
	{"queued", figure.Grey, 0.12}, {"paused", figure.Orange, 0.45}, {"running", figure.Blue, 0.9},
	{"saving", figure.Vermillion, 0.9},
}

// timeline draws a row for each trial.
func timeline(s *sources) (*figure.Figure, error) {
	e := s.list[0]
	x, err := e.Timeline(view.TimelineQuery{Limit: mostRows, Spread: true})
	if err != nil {
		return nil, err
	}
	if x.Total == 0 {
		return nil, fmt.Errorf("%s: there are no trials yet", e.Place())
	}
	f := &figure.Figure{Title: s.title("Trials over time")}
	height := 1.0
	if x.Total > mostRows {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %s, evenly spread", mostRows, counted(x.Total)))
		height = float64(x.Total) / mostRows
	}
	if x.SavesLeftOut {
		f.Notes = append(f.Notes, "later saves of checkpoints are left out")
	}
	edge := min(height/2, 0.99) // there are no trials, and so no ticks, at -1 and beyond the last one
	p := figure.Panel{X: timeAxis(float64(x.Now)), Y: figure.Axis{Label: "trial", Whole: true, Reversed: true,
		Low: -edge, High: float64(x.Total-1) + edge}}
	scale := p.X.High / max(float64(x.Now)*1.02, 1e-9)
	for _, phase := range phases {
		m := segments(x.Trials, phase.name, phase.height*height/2, scale)
		m.Style.Colour = phase.colour
		if m.Points != nil {
			p.Marks = append(p.Marks, m)
			f.Keys = append(f.Keys, figure.Key{Name: phase.name, Shape: figure.Boxes, Style: m.Style})
		}
	}
	f.Panels = []figure.Panel{p}
	return f, nil
}

// timeAxis is an axis of running time, in the unit that fits.
func timeAxis(seconds float64) figure.Axis {
	name, unit := "seconds", 1.0
	switch {
	case seconds >= 3*86400:
		name, unit = "days", 86400
	case seconds >= 3*3600:
		name, unit = "hours", 3600
	case seconds >= 300:
		name, unit = "minutes", 60
	}
	return figure.Axis{Label: name + " of running time", High: max(seconds*1.02, 1e-9) / unit}
}

func segments(rows []view.TrialTimes, state string, half, scale float64) figure.Mark {
	m := figure.Mark{Shape: figure.Boxes}
	for _, t := range rows {
		for _, x := range t.Segments {
			if x.State == state && x.To > x.From {
				no := float64(t.Number)
				m.Points = append(m.Points, figure.Point{X: float64(x.From) * scale, Y: no - half},
					figure.Point{X: float64(x.To) * scale, Y: no + half})
			}
		}
	}
	return m
}
