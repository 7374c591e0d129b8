package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Errors of [Experiment.Resolve].
var (
	// ErrUnresolved says that a parameter that exists at the point has no value (B-108).
	ErrUnresolved = errors.New("has no value")
	// ErrRefused says that the point breaks a constraint that only the host can check; the searcher is
	// asked again.
	ErrRefused = errors.New("the point breaks a constraint")
)

// Resolve turns a searcher's point into a trial's parameters: the searched parameters that exist,
// constants and computed values, as a nested JSON object with sorted keys. It omits parameters whose
// condition does not hold. The same point and seed give the same bytes.
func (e *Experiment) Resolve(point space.Point, seed uint64) ([]byte, error) {
	if len(point) != len(e.Space.Params) {
		return nil, fmt.Errorf("a point of length %d, expected %d", len(point), len(e.Space.Params))
	}
	return e.Prune(slices.Clone(point)).Resolve(seed)
}

// MaxTries limits how often a point that only the host can refuse is tried: as often as the space draws where it checks
// constraints itself.
const MaxTries = 10_000

// SeedOf returns the seed of the random numbers that a try has, of those with a seed; the first try is 0.
func (e *Experiment) SeedOf(seed, try uint64) uint64 {
	if try == 0 || !e.DrawsAgain {
		return seed
	}
	return seeds.Again(seed, try)
}

// ResolveGiven is [Experiment.Resolve] for a point that cannot be another one. It draws random numbers until the
// constraints hold for them, too.
func (e *Experiment) ResolveGiven(point space.Point, seed uint64) (params []byte, err error) {
	for try := range uint64(MaxTries) {
		params, err = e.Prune(point).Resolve(e.SeedOf(seed, try))
		if !e.DrawsAgain || !errors.Is(err, ErrRefused) {
			break
		}
	}
	return params, err
}

// Existing holds the values that exist at a point.
type Existing struct {
	experiment *Experiment
	values     expr.Values
	err        error // a parameter that exists has no value
	like       map[string]any
}

// Like makes the random values those of a trial with these parameters, where all that they depend on is the same. It
// returns x.
func (x *Existing) Like(params []byte) *Existing {
	x.like = x.experiment.Values(params)
	return x
}

// taken returns the value that is taken from the trial that x is like.
func (x *Existing) taken(d *Derived) (value any, ok bool) {
	value, ok = x.like[d.Name]
	return value, ok && d.Program != nil && d.Program.Random() && x.same(d.Program) &&
		!slices.ContainsFunc(d.When, func(p *expr.Program) bool { return !x.same(p) })
}

// same reports whether all that an expression names has the value that it has in the trial that x is like.
func (x *Existing) same(p *expr.Program) bool {
	return !slices.ContainsFunc(p.Uses(), func(name string) bool {
		value, there := x.values.Params[name]
		if constant, is := x.experiment.scope.Constants[name]; is {
			value, there = constant, true
		}
		was, is := x.like[name]
		return there != is || !sameValue(value, was)
	})
}

// Prune sets the coordinates of parameters that do not exist to NaN, parents first. It evaluates all
// conditions, also those that only the host can evaluate. It returns the values of the others.
func (e *Experiment) Prune(point space.Point) *Existing {
	x := &Existing{experiment: e, values: expr.Values{Params: make(map[string]any, len(point))}}
	for i := range point {
		p := &e.Space.Params[i]
		holds, err := e.all(p.Name, e.conditions[i], x.values)
		if err != nil && x.err == nil {
			x.err = err
		}
		if !holds {
			point[i] = math.NaN()
		} else if value, ok := expr.Coordinate(p, point[i]); ok {
			x.values.Params[p.Name] = value
		} else if x.err == nil {
			x.err = fmt.Errorf("parameter %q %w", p.Name, ErrUnresolved)
		}
	}
	return x
}

// Resolve is [Experiment.Resolve] for the pruned point. It is called once.
func (x *Existing) Resolve(seed uint64) ([]byte, error) {
	if x.err != nil {
		return nil, x.err
	}
	if err := x.compute(seed); err != nil {
		return nil, err
	}
	e, v := x.experiment, x.values
	for _, c := range e.Constraints {
		if err := e.broken(c, v); err != nil {
			return nil, err
		}
	}
	for _, c := range e.Constants {
		v.Params[c.Name] = e.scope.Constants[c.Name]
	}
	return nestedJSON(v.Params)
}

// compute adds the values that the host computes, up to the first that fails. The error says for which values that is,
// and what to do.
func (x *Existing) compute(seed uint64) error {
	for i := range x.experiment.Derived {
		d := &x.experiment.Derived[i]
		if value, ok := x.taken(d); ok {
			x.values.Params[d.Name] = value
		} else if err := d.addTo(x.experiment, x.values, seed); err != nil {
			return err
		}
	}
	return nil
}

// all reports whether all conditions of a parameter hold; an unknown condition does not hold.
func (e *Experiment) all(name string, conditions []*expr.Program, v expr.Values) (bool, error) {
	for _, c := range conditions {
		if holds, err := c.Bool(v); err != nil || !holds {
			if err = e.fault(err); err != nil {
				err = &placed{e.whenAt[c], fmt.Errorf("parameter %q: its condition %w%s", name, err,
					e.excepted(c, err, v))}
			}
			return false, err
		}
	}
	return true, nil
}

// fault returns the error of an evaluation that failed though no value is missing. Experiments that began before this
// was an error have none.
func (e *Experiment) fault(err error) error {
	if e.faults && errors.Is(err, expr.ErrUnevaluable) {
		return err
	}
	return nil
}

func (d *Derived) addTo(e *Experiment, v expr.Values, seed uint64) error {
	if holds, err := e.all(d.Name, d.When, v); err != nil || !holds {
		return err
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
		err = fmt.Errorf("parameter %q %w: %w", d.Name, ErrUnresolved, err)
	case err != nil:
		err = fmt.Errorf("parameter %q: %w", d.Name, err)
	case !finite(value):
		err = fmt.Errorf("parameter %q: the value is not finite", d.Name)
	default:
		v.Params[d.Name] = value
		return nil
	}
	return &placed{d.Pos, fmt.Errorf("%w%s", err, e.advice(d, err, v))}
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

// seedOf gives each computed value a seed of its own, so that adding one does not change the others.
func seedOf(seed uint64, name string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", seed, name)
	return h.Sum64()
}

// nestedJSON writes values by full name as nested objects with sorted keys.
func nestedJSON(values map[string]any) (out []byte, err error) {
	out, group := append(make([]byte, 0, 32*len(values)), '{'), "" // as "a/b/"
	for _, name := range slices.SortedFunc(maps.Keys(values), compareNames) {
		for !strings.HasPrefix(name, group) {
			out, group = append(out, '}'), group[:strings.LastIndexByte(group[:len(group)-1], '/')+1]
		}
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		for key, rest, nested := strings.Cut(name[len(group):], "/"); nested; key, rest, nested = strings.Cut(rest,
			"/") {
			out, group = append(appendText(out, key), ":{"...), group+key+"/"
		}
		out = append(appendText(out, name[len(group):]), ':')
		if out, err = appendValue(out, values[name]); err != nil {
			return nil, err
		}
	}
	return append(out, strings.Repeat("}", 1+strings.Count(group, "/"))...), nil
}

// compareNames orders names so that those of a group are adjacent.
func compareNames(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

func appendValue(out []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case float64:
		return append(out, FormatReal(v)...), nil
	case int64:
		return strconv.AppendInt(out, v, 10), nil
	case string:
		return appendText(out, v), nil
	}
	b, err := encoded(jsonValue(v))
	return append(out, b...), err
}

func appendText(out []byte, text string) []byte {
	if expr.Plain(text) {
		return append(append(append(out, '"'), text...), '"')
	}
	b, _ := encoded(text) // a text has no error
	return append(out, b...)
}

func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// jsonValue keeps reals real in JSON (1 becomes 1.0).
func jsonValue(v any) any {
	switch v := v.(type) {
	case float64:
		return json.RawMessage(FormatReal(v))
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
