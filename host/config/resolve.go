package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Errors of [Experiment.Resolve].
var (
	// ErrUnresolved: a parameter that exists at the point has no value (B-108).
	ErrUnresolved = errors.New("has no value")
	// ErrRefused: a constraint that only the host can check is broken; the
	// searcher is asked again.
	ErrRefused = errors.New("the point breaks a constraint")
)

// Resolve makes a trial's parameters from a searcher's point: the values of the
// parameters that exist, constants and computed values, as a nested JSON object
// with sorted keys. Parameters whose condition does not hold are left out, also
// where only the host can tell. The same point and seed give the same bytes.
func (e *Experiment) Resolve(point space.Point, seed uint64) ([]byte, error) {
	values, err := e.Assign(point, seed)
	if err != nil {
		return nil, err
	}
	return nestedJSON(values)
}

// Assign is Resolve as Go values by full name (int64, float64, string, bool,
// nil, []any, map[string]any).
func (e *Experiment) Assign(point space.Point, seed uint64) (map[string]any, error) {
	if len(point) != len(e.Space.Params) {
		return nil, fmt.Errorf("a point of %d values, expected %d", len(point), len(e.Space.Params))
	}
	v, err := e.existing(point)
	if err != nil {
		return nil, err
	}
	for _, d := range e.Derived {
		if err := d.addTo(v, seed); err != nil {
			return nil, err
		}
	}
	for _, c := range e.Constraints {
		if holds, err := c.Program.Bool(v); err == nil && !holds {
			return nil, fmt.Errorf("%w: %s", ErrRefused, c.Program.Source())
		}
	}
	for _, c := range e.Constants {
		v.Params[c.Name] = e.scope.Constants[c.Name]
	}
	return v.Params, nil
}

// Prune sets the coordinates of parameters that do not exist to NaN, by all
// conditions, also those that only the host can evaluate.
func (e *Experiment) Prune(point space.Point) {
	v := expr.Values{Params: map[string]any{}}
	for i := range point {
		if !all(e.conditions[i], v) {
			point[i] = math.NaN()
		} else if value, ok := expr.Coordinate(&e.Space.Params[i], point[i]); ok {
			v.Params[e.Space.Params[i].Name] = value
		}
	}
}

// existing are the values of the parameters that exist, parents first.
func (e *Experiment) existing(point space.Point) (expr.Values, error) {
	v := expr.Values{Params: map[string]any{}}
	for i := range point {
		p := &e.Space.Params[i]
		if !all(e.conditions[i], v) {
			continue
		}
		value, ok := expr.Coordinate(p, point[i])
		if !ok {
			return v, fmt.Errorf("parameter %q %w", p.Name, ErrUnresolved)
		}
		v.Params[p.Name] = value
	}
	return v, nil
}

// all says whether all conditions hold; one that is unknown does not.
func all(conditions []*expr.Program, v expr.Values) bool {
	for _, c := range conditions {
		if holds, err := c.Bool(v); err != nil || !holds {
			return false
		}
	}
	return true
}

func (d *Derived) addTo(v expr.Values, seed uint64) error {
	if !all(d.When, v) {
		return nil
	}
	if d.Program == nil {
		value, err := expr.FromJSON(d.Value)
		v.Params[d.Name] = value
		return err
	}
	v.Seed = seedOf(seed, d.Name)
	value, err := d.Program.Eval(v)
	switch {
	case errors.Is(err, expr.ErrUnknownValue):
		return fmt.Errorf("%s: parameter %q %w: %w", d.Pos, d.Name, ErrUnresolved, err)
	case err != nil:
		return fmt.Errorf("%s: parameter %q: %w", d.Pos, d.Name, err)
	case !finite(value):
		return fmt.Errorf("%s: parameter %q: the value is not finite", d.Pos, d.Name)
	}
	v.Params[d.Name] = value
	return nil
}

func finite(v any) bool {
	switch v := v.(type) {
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !finite(x) })
	case map[string]any:
		for _, x := range v {
			if !finite(x) {
				return false
			}
		}
	}
	return true
}

// seedOf gives each computed value its own randomness, so that adding one does
// not change the others.
func seedOf(seed uint64, name string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", seed, name)
	return h.Sum64()
}

// nestedJSON writes values by full name as nested objects.
func nestedJSON(values map[string]any) ([]byte, error) {
	root := map[string]any{}
	for name, v := range values {
		parts := strings.Split(name, "/")
		at := root
		for _, part := range parts[:len(parts)-1] {
			next, ok := at[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[part] = next
			}
			at = next
		}
		at[parts[len(parts)-1]] = jsonValue(v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(root)
	return bytes.TrimSpace(b.Bytes()), err
}

// jsonValue writes reals so that they stay reals (1 becomes 1.0).
func jsonValue(v any) any {
	switch v := v.(type) {
	case float64:
		return json.RawMessage(formatReal(v))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = jsonValue(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = jsonValue(v[k])
		}
		return out
	}
	return v
}
