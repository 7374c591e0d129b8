package plot

import "github.com/tunehost/tunehost/host/plot/figure"

// mostSlices is how many parameters slice draws.
const mostSlices = 12

// slice draws the value against each parameter.
func slice(s *sources) (*figure.Figure, error) {
	x, err := s.samples()
	if err != nil {
		return nil, err
	}
	params, err := s.chosen(x, mostSlices)
	if err != nil {
		return nil, err
	}
	f := &figure.Figure{Title: s.title(figure.Short(x.Metric, nameColumns) + " by parameter"),
		Keys: append(append(gradedKeys(x, figure.Dots), failedKeys(x)...), x.bestKey())}
	y := valueAxis(label(x.Objective), x.values())
	for _, i := range params {
		f.Panels = append(f.Panels, figure.Panel{X: x.paramAxis(i), Y: y,
			Marks: gradedDots(x, func(t *sample) figure.Point { return figure.Point{X: t.point[i], Y: t.value} })})
	}
	f.Notes = append(x.notes, x.missing(params)...)
	return f, nil
}

// bestKey explains bestDot.
func (x *samples) bestKey() figure.Key {
	return figure.Key{Name: "best " + x.thing(), Shape: figure.Dots, Style: bestStyle}
}

// thing is what a sample is.
func (x *samples) thing() string {
	if x.e.Repeated() {
		return "suggestion"
	}
	return "trial"
}

// missing says how many trials do not have a parameter, because its condition was false.
func (x *samples) missing(params []int) (notes []string) {
	for _, i := range params {
		n := 0
		for _, v := range x.column(i) {
			if v != v {
				n++
			}
		}
		if n > 0 {
			notes = append(notes, x.counted(n)+" without "+x.short[i])
		}
	}
	return notes
}
