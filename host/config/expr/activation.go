package expr

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// activation reads the hidden variables from Values.
type activation struct {
	scope  *Scope
	values *Values
	rng    rngVal
}

var _ cel.Activation = (*activation)(nil)

func (a *activation) Parent() cel.Activation { return nil }

func (a *activation) ResolveName(hidden string) (any, bool) {
	switch hidden {
	case rngName:
		return a.rng, true
	case metricsName:
		return a.values.Metrics, true
	case paramsName:
		return a.allParams(), true
	}
	kind, name, _ := strings.Cut(hidden, ":")
	switch kind + ":" {
	case paramPrefix, computedPrefix:
		return a.typed(hidden, a.values.Params, name)
	case constPrefix:
		v, ok := a.scope.Constants[name]
		return v, ok
	case varPrefix:
		return a.typed(hidden, a.values.Vars, name)
	}
	return nil, false
}

// typed converts a value to the declared type of its variable, so that the maps may hold 2 or 2.0.
func (a *activation) typed(hidden string, from map[string]any, name string) (any, bool) {
	v, ok := from[name]
	if !ok {
		return nil, false
	}
	switch t := a.scope.hiddenType(hidden); x := v.(type) {
	case int64:
		if t == cel.DoubleType {
			return float64(x), true
		}
	case int:
		if t == cel.DoubleType {
			return float64(x), true
		}
	case float64:
		if t == cel.IntType && x == math.Trunc(x) && math.Abs(x) < 1<<63 {
			return int64(x), true
		}
	}
	return v, true
}

func (a *activation) allParams() map[string]any {
	all := make(map[string]any, len(a.values.Params)+len(a.scope.Constants))
	maps.Copy(all, a.scope.Constants)
	maps.Copy(all, a.values.Params)
	return all
}

// toGo converts a result to plain Go values.
func toGo(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.Int:
		return int64(v), nil
	case types.Double:
		return float64(v), nil
	case types.Bool:
		return bool(v), nil
	case types.String:
		return string(v), nil
	case types.Null:
		return nil, nil
	case traits.Mapper:
		return toMap(v)
	case traits.Lister:
		return toList(v)
	}
	return nil, fmt.Errorf("found %s, expected a JSON value", v.Type().TypeName())
}

func toList(v traits.Lister) (any, error) {
	list := []any{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		item, err := toGo(it.Next())
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

func toMap(v traits.Mapper) (any, error) {
	m := map[string]any{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		text, ok := key.(types.String)
		if !ok {
			return nil, fmt.Errorf("found the key %v, expected a text", key.Value())
		}
		item, err := toGo(v.Get(key))
		if err != nil {
			return nil, err
		}
		m[string(text)] = item
	}
	return m, nil
}
