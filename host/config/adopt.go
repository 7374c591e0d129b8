package config

import (
	"fmt"
	"math"
	"reflect"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Adopt converts the parameters of a trial of another experiment, a JSON object, into parameters of a
// trial of this one. An error says why that trial could not have run here: a parameter or constant is
// missing, a value is not allowed, or a constraint is broken. The errors have few different texts, so
// that they can be counted.
func (e *Experiment) Adopt(params []byte, seed uint64) ([]byte, error) {
	v, err := expr.FromJSON(params)
	if err != nil {
		return nil, err
	}
	if err := e.sameConstants(v); err != nil {
		return nil, err
	}
	p := make(space.Point, len(e.Space.Params))
	for i := range p {
		if p[i], err = e.adoptOne(v, i); err != nil {
			return nil, err
		}
	}
	return e.ResolveGiven(p, seed)
}

func (e *Experiment) sameConstants(v any) error {
	for _, c := range e.Constants {
		x, ok := lookup(v, c.Name)
		if !ok {
			return fmt.Errorf("it has no parameter %q", c.Name)
		}
		if !sameValue(x, e.scope.Constants[c.Name]) {
			return fmt.Errorf("%q is another there", c.Name)
		}
	}
	return nil
}

// adoptOne returns the value that the file gives for a missing parameter, or NaN where the file gives
// none.
func (e *Experiment) adoptOne(v any, i int) (float64, error) {
	param := &e.Space.Params[i]
	x, ok := lookup(v, param.Name)
	if was, known := e.was[param.Name]; !ok && known {
		return was, nil
	}
	if !ok {
		return math.NaN(), nil
	}
	c, err := coordinate(param, x)
	if err == nil {
		alone := space.Space{Params: []space.Param{*param}}
		err = alone.CheckGiven(space.Point{c})
	}
	if err != nil {
		return 0, fmt.Errorf("its %q is outside of the space", param.Name)
	}
	return c, nil
}

// sameValue reports whether two values are equal; 1 equals 1.0.
func sameValue(a, b any) bool {
	if i, ok := a.(int64); ok {
		a = float64(i)
	}
	if i, ok := b.(int64); ok {
		b = float64(i)
	}
	return reflect.DeepEqual(a, b)
}
