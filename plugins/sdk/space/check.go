package space

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Check returns an error if p is not a point of the space. The error is one line with the
// parameter, its value and what is allowed. Parameters that exist must have a value inside their
// bounds; others must be NaN.
//
// Bounds, integers and choices are checked exactly. Steps of reals are not: a value may differ from
// a multiple of the step by a billionth of the step or by 1e-15 of itself, because languages round
// multiples of 0.1 differently. Constraints are checked by [Space.Holds].
func (s *Space) Check(p Point) error {
	if len(p) != len(s.Params) {
		return fmt.Errorf("the point has length %d; allowed: %d, one for each parameter of the space", len(p),
			len(s.Params))
	}
	for i := range p {
		if err := s.checkAt(p, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Space) checkAt(p Point, i int) error {
	param := &s.Params[i]
	switch active := s.Active(p, i); {
	case !active && math.IsNaN(p[i]):
		return nil
	case !active:
		return fmt.Errorf("parameter %q is %s; allowed: no value, because its condition does not hold", param.Name,
			number(p[i]))
	case math.IsNaN(p[i]):
		return fmt.Errorf("parameter %q has no value; allowed: %s", param.Name, param.allowed())
	}
	return param.checkValue(p[i])
}

// CheckGiven returns an error if p cannot be completed with [Space.Complete]: it must be nil, or
// have the space's length, and each value must be NaN or an allowed value of its parameter.
func (s *Space) CheckGiven(p Point) error {
	if p == nil {
		return nil
	}
	if len(p) != len(s.Params) {
		return fmt.Errorf("the given point has length %d; allowed: %d, one for each parameter of the space", len(p),
			len(s.Params))
	}
	for i, x := range p {
		if err := s.Params[i].checkValue(x); err != nil && !math.IsNaN(x) {
			return err
		}
	}
	return nil
}

// checkValue checks one value that is not NaN.
func (p *Param) checkValue(x float64) error {
	if !p.contains(x) {
		return fmt.Errorf("parameter %q is %s; allowed: %s", p.Name, number(x), p.allowed())
	}
	return nil
}

// contains reports whether p can have the value x.
func (p *Param) contains(x float64) bool {
	l, ok := p.lattice()
	switch {
	case !finite(x):
		return false
	case p.Open && p.Kind == Int:
		return x == math.Trunc(x) && math.Abs(x) <= maxExact
	case p.Open && p.Kind == Real:
		return true
	case ok && p.Kind == Real:
		return isMultiple(x, l.step, l.nearest(x))
	case ok:
		return x == l.value(l.nearest(x))
	case p.Kind == Real:
		return p.Low <= x && x <= p.High
	}
	return p.Step == 0 || isMultiple(x, p.Step, math.RoundToEven(x/p.Step))
}

// allowed describes the allowed values of p.
func (p *Param) allowed() string {
	switch {
	case p.Kind == Choice || p.Kind == Ordinal:
		return fmt.Sprintf("an index from 0 to %d", len(p.Choices)-1)
	case p.Open && p.Kind == Int:
		return "any integer within ±2^53"
	case p.Open:
		return "any finite number"
	case p.Kind == Normal:
		return "any finite number" + p.steps()
	case p.Kind == Int:
		return "integers" + p.bounds()
	}
	return "numbers" + p.bounds()
}

func (p *Param) bounds() string {
	return " from " + number(p.Low) + " to " + number(p.High) + p.steps()
}

func (p *Param) steps() string {
	if p.Step == 0 {
		return ""
	}
	return ", multiples of " + number(p.Step)
}

// number formats x for people.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// list names the choices, as many as fit on a line.
func (p *Param) list() string {
	const room = 200
	var text strings.Builder
	for i, raw := range p.Choices {
		if i > 0 {
			text.WriteString(", ")
		}
		if text.Len() > room {
			fmt.Fprintf(&text, "… (%d in all)", len(p.Choices))
			break
		}
		text.WriteString(excerpt(raw))
	}
	return text.String()
}

// excerpt returns the beginning of some JSON, on one line.
func excerpt(raw []byte) string {
	const room = 60
	var line bytes.Buffer
	if json.Compact(&line, raw) != nil {
		return strconv.Quote(string(raw[:min(len(raw), room)]))
	}
	if line.Len() <= room {
		return line.String()
	}
	return strings.ToValidUTF8(line.String()[:room], "") + "…"
}
