package space

import (
	"errors"
	"math"
	"slices"
)

// seenTries is the number of draws that look for a new point before all remaining ones are listed.
const seenTries = 100

// Seen helps searchers to suggest no point of a finite space twice. It remembers points. In spaces
// that are large, infinite or without parameters, and if the host has further conditions (Opaque),
// it remembers none, and every point is new.
type Seen struct {
	space *Space
	axes  []Axis
	size  int
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

// Add remembers p, unless it is not a point of the space.
func (m *Seen) Add(p Point) {
	if m.keys != nil && m.space.Check(p) == nil && m.space.Holds(p) {
		m.keys[m.space.Key(p)] = true
	}
}

// Has reports whether p is remembered.
func (m *Seen) Has(p Point) bool { return m.keys != nil && m.keys[m.space.Key(p)] }

// Full reports whether every point of the space is remembered.
func (m *Seen) Full() bool { return m.keys != nil && len(m.keys) >= m.size }

// Left lists the points with the given coordinates (nil: any) that are not remembered. It is empty
// if nothing is remembered.
func (m *Seen) Left(given Point) (points []Point) {
	if m.keys == nil {
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
// point with them, because grids of the host and users expect an answer for each. The error is
// [ErrTight] or an error of given.
func (m *Seen) Pick(given Point, rng Source, draw func(try int) Point) (Point, error) {
	if err := m.space.CheckGiven(given); err != nil {
		return nil, err
	}
	if m.keys == nil {
		return m.draw(given, maxTries, draw)
	}
	p := m.pickNew(given, rng, draw)
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
	for try := range tries {
		p := m.space.Complete(given, draw(try))
		if m.space.Holds(p) && !m.Has(p) {
			return p, nil
		}
	}
	return nil, ErrTight
}

func anyGiven(p Point) bool {
	return slices.ContainsFunc(p, func(x float64) bool { return !math.IsNaN(x) })
}
