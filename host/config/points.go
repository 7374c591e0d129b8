package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// points checks the user's points against the space (B-104).
func (b *builder) points() {
	b.e.PointsAreOfGrid = b.reading >= gridReading
	b.e.PlansWhatCanBe = b.reading >= cellReading
	b.e.PlansWithinLimits = b.reading >= limitReading
	n := b.at("points")
	if n == nil || b.bad["space"] {
		return
	}
	if len(n.items) > maxPoints {
		b.fail(n.pos, "found %d points, the limit is %d", len(n.items), maxPoints)
		return
	}
	for _, item := range n.items {
		b.e.Points = append(b.e.Points, Point{item.json(), b.point(item), item.pos})
	}
}

// ParsePoint turns a user's parameters into a point whose coordinates are NaN where nothing was given.
// params is a JSON object, whole or partial, nested or with "/" in names. Constants may be repeated
// but not changed; computed values cannot be given. where is the place in errors, which are [Errors].
func (e *Experiment) ParsePoint(where string, params []byte) (space.Point, error) {
	p := &problems{}
	n := readYAML(p, where, params)
	if n == nil || len(p.errs) > 0 {
		return nil, p.err()
	}
	b := &builder{problems: p, e: e, reading: Reading}
	if n.kind != mapKind {
		b.fail(n.pos, "found %s, expected a map of parameters", n.describe())
		return nil, b.err()
	}
	point := b.point(n)
	return point, b.err()
}

func (b *builder) point(n *node) space.Point {
	point := make(space.Point, len(b.e.Space.Params))
	for i := range point {
		point[i] = math.NaN()
	}
	places := map[int]Pos{}
	b.pointGroup(n, "", point, places)
	b.misplaced(point, places, n.pos)
	return point
}

func (b *builder) pointGroup(n *node, prefix string, point space.Point, places map[int]Pos) {
	for _, e := range n.keys {
		name := prefix + e.name
		if i, ok := b.index(name); ok {
			if _, twice := places[i]; twice {
				b.fail(e.pos, "%s is given twice", quote(name))
			}
			places[i] = e.value.pos
			point[i] = b.coordinate(&b.e.Space.Params[i], e.value)
			continue
		}
		b.pointOther(e, name, point, places)
	}
}

func (b *builder) index(name string) (int, bool) {
	for i := range b.e.Space.Params {
		if b.e.Space.Params[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

func (b *builder) pointOther(e entry, name string, point space.Point, places map[int]Pos) {
	for _, c := range b.e.Constants {
		if c.Name == name {
			if !sameJSON(c.Value, e.value.json()) {
				b.fail(e.value.pos, "%s is constant (%s), found %s", quote(name), clip(string(c.Value)),
					e.value.describe())
			}
			return
		}
	}
	for _, d := range b.e.Derived {
		if d.Name == name {
			b.fail(e.pos, "%s is computed for each trial and cannot be given", quote(name))
			return
		}
	}
	known := b.allNames()
	for _, k := range known {
		if e.value.kind == mapKind && strings.HasPrefix(k, name+"/") {
			b.pointGroup(e.value, name+"/", point, places)
			return
		}
	}
	if b.isDropped(name) {
		return
	}
	b.fail(e.pos, "unknown parameter %s%s", quote(name), nearest.Hint(name, known))
}

func (b *builder) allNames() []string {
	var names []string
	for _, p := range b.e.Space.Params {
		names = append(names, p.Name)
	}
	for _, c := range b.e.Constants {
		names = append(names, c.Name)
	}
	for _, d := range b.e.Derived {
		names = append(names, d.Name)
	}
	return names
}

// coordinate returns the coordinate of a value; it reports a value outside of the space and returns
// NaN.
func (b *builder) coordinate(p *space.Param, n *node) float64 {
	if p.Kind == space.Choice || p.Kind == space.Ordinal {
		return b.choiceIndex(p, n)
	}
	x, _ := n.float()
	low, high := p.Low, p.High
	switch {
	case !isFinite(n):
		b.fail(n.pos, "found %s for %s, expected a number", n.describe(), p.Name)
	case p.Kind != space.Normal && !p.Open && (x < low || x > high):
		b.fail(n.pos, "%s for %s is outside [%g, %g]", n.text, p.Name, low, high)
	case p.Kind == space.Int && isRounded(n):
		b.fail(n.pos, "%s for %s is too large: whole numbers are exact up to 9007199254740992", n.text, p.Name)
	case p.Kind == space.Int && x != math.Trunc(x):
		b.fail(n.pos, "%s for %s is not a whole number", n.text, p.Name)
	case p.Step > 0 && !p.Open && math.Abs(x/p.Step-math.Round(x/p.Step)) > 1e-9*math.Max(1, math.Abs(x/p.Step)):
		b.fail(n.pos, "%s for %s is not a multiple of %g", n.text, p.Name, p.Step)
	default:
		return x
	}
	return math.NaN()
}

// isRounded reports whether a whole number is another one as a coordinate.
func isRounded(n *node) bool {
	i, ok := n.integer()
	return ok && int64(float64(i)) != i
}

func (b *builder) choiceIndex(p *space.Param, n *node) float64 {
	exactly := func(i int) bool { return b.reading >= exactReading && bytes.Equal(p.Choices[i], n.json()) }
	equally := func(i int) bool { return sameJSON(p.Choices[i], n.json()) }
	if i := choiceOf(p, exactly, equally); i >= 0 {
		return float64(i)
	}
	var shown []string
	for _, c := range p.Choices {
		shown = append(shown, bare(c))
	}
	b.fail(n.pos, "found %s for %s, expected %s%s", n.describe(), p.Name, list(shown, 8), nearest.Hint(n.text, shown))
	return math.NaN()
}

// bare is a choice without the quotes of a text, unless that would be another value: "1" is not 1.
func bare(choice []byte) string {
	text := strings.Trim(string(choice), `"`)
	if json.Valid([]byte(text)) {
		return string(choice)
	}
	return text
}

// sameJSON compares values; 2 and 2.0 are the same.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return fmt.Sprintf("%#v", x) == fmt.Sprintf("%#v", y)
}

// misplaced reports values given for parameters that do not exist at the point, and constraints that
// the given values break.
func (b *builder) misplaced(point space.Point, places map[int]Pos, at Pos) {
	values := b.e.values(point)
	for i := range point {
		if math.IsNaN(point[i]) || i >= len(b.e.conditions) {
			continue
		}
		for _, c := range b.e.conditions[i] {
			holds, err := c.Bool(values)
			if err := b.e.fault(err); err != nil {
				b.fail(places[i], "the condition of %s %v", b.e.Space.Params[i].Name, err)
				break
			}
			if err == nil && !holds {
				b.fail(places[i], "%s does not exist here, because %s does not hold", b.e.Space.Params[i].Name,
					quote(c.Source()))
				break
			}
		}
	}
	for _, c := range b.e.Constraints {
		holds, err := c.Program.Bool(values)
		switch {
		case err == nil && !holds:
			b.fail(at, "the point breaks the constraint %s", quote(c.Program.Source()))
		case b.e.undefined(c, values, err):
			b.fail(at, "the point breaks the constraint %v", err)
		case b.e.fault(err) != nil && c.Opaque:
			b.fail(at, "the constraint %v", err)
		}
	}
}

func (e *Experiment) values(point space.Point) expr.Values {
	v := expr.Values{Params: map[string]any{}}
	for i, x := range point {
		if value, ok := expr.Coordinate(&e.Space.Params[i], x); ok {
			v.Params[e.Space.Params[i].Name] = value
		}
	}
	return v
}
