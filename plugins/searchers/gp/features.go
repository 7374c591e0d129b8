package gp

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/cube"
)

// A layout defines the features of points: first the coordinates of the numbers, then the
// categories of the choices. Parameters with one value are left out.
type layout struct {
	axes []cube.Axis
	// order is the parameter of each feature; the first numbers of them are numbers, the others
	// choices.
	order   []int
	numbers int
}

const (
	// absent is the coordinate of a number that does not exist: the middle of the range, at most as
	// far from other values as these are from each other. Branches are distinguished by the choice
	// that they depend on.
	absent = 0.5
	// none is the category of a choice that does not exist.
	none = -1
)

func newLayout(s *space.Space) *layout {
	l := &layout{axes: cube.New(s)}
	var choices []int
	for i := range l.axes {
		switch a := &l.axes[i]; {
		case a.Fixed():
		case a.Choices > 0:
			choices = append(choices, i)
		default:
			l.order = append(l.order, i)
		}
	}
	l.numbers = len(l.order)
	l.order = slices.Concat(l.order, choices)
	return l
}

// features returns the features of a point.
func (l *layout) features(p space.Point) []float64 {
	x := make([]float64, len(l.order))
	for k, i := range l.order {
		x[k] = l.axes[i].Of(p[i])
		switch {
		case !math.IsNaN(x[k]):
		case k < l.numbers:
			x[k] = absent
		default:
			x[k] = none
		}
	}
	return x
}
