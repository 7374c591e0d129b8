package space

import (
	"errors"
	"math"
	"slices"
)

// seenTries is the number of draws that look for a new point before all remaining ones are listed.
const seenTries = 100

// Seen helps searchers to suggest no point of a space twice. It remembers points. With [NewSeen] it remembers
// none in spaces that are large, infinite or without parameters, and if the host has further conditions (Opaque):
// there every point is new.
type Seen struct {
	space *Space
	axes  []Axis
	size  int             // 0: not known, or not finite
	keys  map[string]bool // nil: nothing is remembered
}

// NewSeen returns a Seen that remembers the points of s if there are at most limit. It fails if the
// space has no points.
func NewSeen(s *Space, limit int) (*Seen, error) {
	m := &Seen{space: s}
	if s.Opaque || len(s.Params) == 0 {
		return m, nil
	}
	size, ok := s.Size(limit)
	switch {
	case !ok:
		return m, nil
	case size == 0:
		return nil, errors.New("no point of the space satisfies the constraints: loosen them")
	}
	m.axes, _ = s.Axes()
	m.size, m.keys = size, map[string]bool{}
	return m, nil
}

// NewSeenAll is like [NewSeen], but also remembers points of spaces that have more of them, and of those with further
// conditions. It is for searchers whose numbers often stay as they are.
func NewSeenAll(s *Space, limit int) (*Seen, error) {
	m, err := NewSeen(s, limit)
	if err == nil && m.keys == nil && len(s.Params) > 0 {
		m.keys = map[string]bool{}
	}
	return m, err
}

// Add remembers p, unless it is not a point of the space.
func (m *Seen) Add(p Point) {
	if m.keys != nil && m.space.Check(p) == nil && m.space.Holds(p) {
		m.keys[m.space.Key(p)] = true
	}
}

// Has reports whether p is remembered.
func (m *Seen) Has(p Point) bool { return m.keys != nil && m.keys[m.space.Key(p)] }

// Full reports whether every point of the space is remembered.
func (m *Seen) Full() bool { return m.size > 0 && len(m.keys) >= m.size }

// Left lists the points with the given coordinates (nil: any) that are not remembered. It is empty
// if their number is not known.
func (m *Seen) Left(given Point) (points []Point) {
	if m.size == 0 {
		return nil
	}
	for walk := m.space.NewWalk(GivenAxes(m.axes, given)); walk.Advance(); {
		if p := walk.Point(); p != nil && !m.Has(p) {
			points = append(points, slices.Clone(p))
		}
	}
	return points
}

// Pick chooses and remembers a new point: given, completed by the first draw, for tries from 0,
// that makes it new and satisfies the constraints. If no draw does, rng picks one of the remaining
// points. If none remains, it returns nil. If coordinates were given, it then repeats a random
// point with them, because grids of the host and users expect an answer for each. If the number of points is not
// known and no draw makes a new one, the first that satisfies the constraints is repeated. The error is [ErrTight]
// or an error of given.
func (m *Seen) Pick(given Point, rng Source, draw func(try int) Point) (Point, error) {
	if err := m.space.CheckGiven(given); err != nil {
		return nil, err
	}
	if m.keys == nil {
		return m.any(given, maxTries, draw)
	}
	p := m.pickNew(given, rng, draw)
	if p == nil && m.size == 0 {
		return m.any(given, maxTries, draw)
	}
	if p == nil && anyGiven(given) {
		return m.space.SampleGiven(rng, given)
	}
	m.Add(p)
	return p, nil
}

// pickNew returns nil if there is no new point.
func (m *Seen) pickNew(given Point, rng Source, draw func(try int) Point) Point {
	if m.Full() {
		return nil
	}
	if p, err := m.draw(given, seenTries, draw); err == nil {
		return p
	}
	left := m.Left(given)
	if len(left) == 0 {
		return nil
	}
	return left[int(rng.Float64()*float64(len(left)))]
}

func (m *Seen) draw(given Point, tries int, draw func(try int) Point) (Point, error) {
	return m.first(given, tries, draw, func(p Point) bool { return !m.Has(p) })
}

// any draws a point, which may be remembered.
func (m *Seen) any(given Point, tries int, draw func(try int) Point) (Point, error) {
	return m.first(given, tries, draw, func(Point) bool { return true })
}

// first returns the first draw that satisfies the constraints and is fit.
func (m *Seen) first(given Point, tries int, draw func(try int) Point, fit func(Point) bool) (Point, error) {
	for try := range tries {
		if p := m.space.Complete(given, draw(try)); m.space.Holds(p) && fit(p) {
			return p, nil
		}
	}
	return nil, ErrTight
}

func anyGiven(p Point) bool {
	return slices.ContainsFunc(p, func(x float64) bool { return !math.IsNaN(x) })
}
