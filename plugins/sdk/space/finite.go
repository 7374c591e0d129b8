package space

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
)

// An Axis is the list of values of one parameter in a [Walk]: Value(0) to Value(Count-1).
type Axis struct {
	Count int64
	Value func(k int64) float64
}

// Axis returns every value of parameter i in ascending order, or false if they are continuous or
// unbounded.
func (s *Space) Axis(i int) (Axis, bool) {
	p := &s.Params[i]
	if l, ok := p.lattice(); ok {
		return Axis{int64(l.count()), func(k int64) float64 { return l.value(l.first + float64(k)) }}, true
	}
	if p.Kind == Real && p.Low == p.High {
		return Fixed(p.Low), true
	}
	return Axis{}, false
}

// Fixed returns an axis of one value.
func Fixed(x float64) Axis {
	return Axis{1, func(int64) float64 { return x }}
}

// Axes returns every parameter's axis, or false if one has none.
func (s *Space) Axes() ([]Axis, bool) {
	axes := make([]Axis, len(s.Params))
	for i := range axes {
		axis, ok := s.Axis(i)
		if !ok {
			return nil, false
		}
		axes[i] = axis
	}
	return axes, true
}

// GivenAxes returns axes with the given coordinates fixed; given may be nil.
func GivenAxes(axes []Axis, given Point) []Axis {
	axes = slices.Clone(axes)
	for i, x := range given {
		if !math.IsNaN(x) {
			axes[i] = Fixed(x)
		}
	}
	return axes
}

// Size returns the number of points in the space that satisfy the constraints. It returns false if
// there are infinitely many, or more than limit, or if so many combinations violate the constraints
// that counting would take too long.
func (s *Space) Size(limit int) (size int, ok bool) {
	axes, ok := s.Axes()
	if !ok {
		return 0, false
	}
	walk := s.NewWalk(axes)
	for budget := 64 * (limit + len(axes)); walk.Advance(); budget-- {
		if walk.Point() != nil {
			size++
		}
		if size > limit || budget == 0 {
			return 0, false
		}
	}
	return size, true
}

// All returns every point of a finite space in the order of [Walk], each as a copy. It returns
// nothing for other spaces.
func (s *Space) All() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		axes, ok := s.Axes()
		if !ok {
			return
		}
		for walk := s.NewWalk(axes); walk.Advance(); {
			if p := walk.Point(); p != nil && !yield(slices.Clone(p)) {
				return
			}
		}
	}
}

// A Walk visits the points whose parameters have values of given axes, the last parameter fastest.
// A parameter that does not exist is NaN once, so no point occurs twice. Branches that violate a
// constraint are skipped. It holds one point at a time.
type Walk struct {
	space   *Space
	axes    []Axis
	point   Point
	at      []int64 // the index of each parameter's value in its axis
	depth   int     // how many parameters have their value
	started bool
	holds   bool // the values so far violate no constraint
}

// NewWalk returns a Walk before the first point. axes has one axis for each parameter.
func (s *Space) NewWalk(axes []Axis) *Walk {
	w := &Walk{space: s, axes: axes, point: make(Point, len(axes)), at: make([]int64, len(axes))}
	for i := range w.point {
		w.point[i] = math.NaN()
	}
	return w
}

// Advance takes a step, which sets one parameter; it returns false at the end. With strict
// constraints many steps may pass without a point, so callers can count steps or check a deadline.
func (w *Walk) Advance() bool {
	switch {
	case !w.started:
		w.started = true
	case w.holds && w.depth < len(w.axes):
		w.set(0)
	case !w.next():
		return false
	}
	w.holds = w.space.Holds(w.point)
	return true
}

// Point returns the point that the last step completed, or nil. Further steps overwrite it.
func (w *Walk) Point() Point {
	if !w.holds || w.depth < len(w.axes) {
		return nil
	}
	return w.point
}

// next changes the last value that can be changed.
func (w *Walk) next() bool {
	for w.depth > 0 {
		w.depth--
		i := w.depth
		exists := !math.IsNaN(w.point[i])
		w.point[i] = math.NaN()
		if exists && w.at[i]+1 < w.axes[i].Count {
			w.set(w.at[i] + 1)
			return true
		}
	}
	return false
}

// set gives the next parameter the k-th value of its axis, if the parameter exists.
func (w *Walk) set(k int64) {
	i := w.depth
	w.depth++
	w.at[i] = k
	if w.space.Active(w.point, i) {
		w.point[i] = w.axes[i].Value(k)
	}
}

// Key returns a string that two points of the space share if and only if they are equal, apart from
// the rounding of steps. It is not meant for people.
func (s *Space) Key(p Point) string {
	key := make([]byte, 0, 8*len(p))
	for i, x := range p {
		x = s.Quantise(i, x) + 0 // + 0: no negative zero
		if math.IsNaN(x) {
			x = math.NaN() // there are many NaNs: use one
		}
		key = binary.BigEndian.AppendUint64(key, math.Float64bits(x))
	}
	return string(key)
}
