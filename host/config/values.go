package config

import (
	"encoding/json"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
)

// JSONOf reads a value that a user gave on a command line as an experiment file would, and returns it as JSON. where is
// the place in errors, which are [Errors].
func JSONOf(where, text string) (json.RawMessage, error) {
	p := &problems{}
	n := readYAML(p, where, []byte(text))
	if err := p.err(); err != nil || n == nil {
		return nil, err
	}
	return n.json(), nil
}

// Values reads a trial's parameters, a JSON object from [Experiment.Resolve], by their full names.
// Values that are maps stay whole. It omits what cannot be read.
func (e *Experiment) Values(params []byte) map[string]any {
	values := map[string]any{}
	v, err := expr.FromJSON(params)
	if err != nil {
		return values
	}
	look := func(name string) {
		if x, ok := lookup(v, name); ok {
			values[name] = x
		}
	}
	for i := range e.Space.Params {
		look(e.Space.Params[i].Name)
	}
	for i := range e.Constants {
		look(e.Constants[i].Name)
	}
	for i := range e.Derived {
		look(e.Derived[i].Name)
	}
	return values
}

// lookup follows the parts of a full name in nested maps.
func lookup(v any, name string) (any, bool) {
	for {
		group, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		part, rest, nested := strings.Cut(name, "/")
		if v, ok = group[part]; !ok || !nested {
			return v, ok
		}
		name = rest
	}
}

// ParameterNames returns the full names of all that a trial gets: parameters, constants and derived
// values.
func (e *Experiment) ParameterNames() []string {
	names := []string{}
	for i := range e.Space.Params {
		names = append(names, e.Space.Params[i].Name)
	}
	for _, c := range e.Constants {
		names = append(names, c.Name)
	}
	for _, d := range e.Derived {
		names = append(names, d.Name)
	}
	return names
}
