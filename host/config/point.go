package config

import (
	"fmt"
	"math"
	"reflect"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// PointOf returns the point that has a trial's parameters, a JSON object.
func PointOf(s *space.Space, params []byte) (space.Point, error) {
	v, err := expr.FromJSON(params)
	if err != nil {
		return nil, err
	}
	p := make(space.Point, len(s.Params))
	for i := range p {
		p[i] = math.NaN()
		if x, ok := lookup(v, s.Params[i].Name); ok {
			if p[i], err = coordinate(&s.Params[i], x); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

func coordinate(p *space.Param, v any) (float64, error) {
	if p.Kind == space.Choice || p.Kind == space.Ordinal {
		exactly := func(i int) bool { return reflect.DeepEqual(expr.Choice(p, i), v) }
		equally := func(i int) bool { return sameValue(expr.Choice(p, i), v) }
		if i := choiceOf(p, exactly, equally); i >= 0 {
			return float64(i), nil
		}
		return 0, fmt.Errorf("parameter %q: %v is not in the space", p.Name, v)
	}
	switch v := v.(type) {
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("parameter %q: %v is not in the space", p.Name, v)
}

// choiceOf returns the first choice for which one of the tests holds, the first test first; -1: there is none. Of 1 and
// 1.0, which are equal, it is the one that is written as the value is.
func choiceOf(p *space.Param, tests ...func(i int) bool) int {
	for _, test := range tests {
		for i := range p.Choices {
			if test(i) {
				return i
			}
		}
	}
	return -1
}
