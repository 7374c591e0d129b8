package config

import (
	"fmt"
	"math"
	"reflect"

	"github.com/tunehost/tunehost/host/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Adopt makes the parameters of a trial here of those, a JSON object, that a trial
// of another experiment had. Its errors, of which there are few different ones, say
// why that trial is none that could have run here: a parameter or constant is
// missing, has a value that it cannot have here, or a constraint is broken.
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
	return e.Prune(p).Resolve(seed)
}

func (e *Experiment) sameConstants(v any) error {
	for _, c := range e.Constants {
		x, ok := Lookup(v, c.Name)
		if !ok {
			return fmt.Errorf("it has no parameter %q", c.Name)
		}
		if !sameValue(x, e.scope.Constants[c.Name]) {
			return fmt.Errorf("%q is another there", c.Name)
		}
	}
	return nil
}

// adoptOne is what the file says that it was, or NaN, for what is not there: perhaps it does not
// exist here, either.
func (e *Experiment) adoptOne(v any, i int) (float64, error) {
	param := &e.Space.Params[i]
	x, ok := Lookup(v, param.Name)
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

// sameValue takes 1 and 1.0 for the same.
func sameValue(a, b any) bool {
	if i, ok := a.(int64); ok {
		a = float64(i)
	}
	if i, ok := b.(int64); ok {
		b = float64(i)
	}
	return reflect.DeepEqual(a, b)
}
