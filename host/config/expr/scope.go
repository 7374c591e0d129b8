package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"cel.dev/cel-go/cel"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Limits of an expression.
const (
	maxSourceRunes = 4096
	maxSaidRunes   = 160 // of the expression, in a message
	maxDepth       = 100
	maxEvalCost    = 200_000
)

// ErrOpaque says that an expression is valid but cannot be lowered; the host evaluates it.
var ErrOpaque = errors.New("the expression can only be evaluated by the host")

// ErrUnknownValue says that the expression needs a missing value: an inactive parameter, a metric that
// was not reported, a division by zero.
var ErrUnknownValue = errors.New("unknown value")

// ErrUndefined is an [ErrUnknownValue] of a calculation: a division by zero, or a result that is not a number. The
// names that it uses may have values.
var ErrUndefined = fmt.Errorf("%w", ErrUnknownValue)

// ErrUnevaluable says that an evaluation has failed though no value is missing: it takes too many steps, or a number
// overflows.
var ErrUnevaluable = errors.New("cannot be evaluated")

// ErrTooLong is the [ErrUnevaluable] of an expression that takes too many steps.
var ErrTooLong = fmt.Errorf("%w: the expression takes too many steps", ErrUnevaluable)

// Error is a mistake in an expression.
type Error struct {
	// Column counts runes from 1.
	Column int
	// Msg is one line: what was found and what was expected.
	Msg string
}

func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Msg) }

// Type is the type of a variable or a result.
type Type uint8

// Any is also the type of choices that mix types.
const (
	Any Type = iota
	Int
	Float
	Bool
	Text
)

func (t Type) cel() *cel.Type {
	return [...]*cel.Type{cel.DynType, cel.IntType, cel.DoubleType, cel.BoolType, cel.StringType}[t]
}

// Scope is the set of names that an expression may use. Names are full names, with parts joined by
// "/".
type Scope struct {
	// Params are the parameters of a space; the tree that Lower makes refers to them by index.
	Params []space.Param
	// Constants have the same value in every trial. They are JSON values as Go values: int64, float64,
	// string, bool, nil, []any, map[string]any.
	Constants map[string]any
	// Computed are sample parameters, which only the host knows.
	Computed []string
	// Vars are the host's own variables, such as iteration; a parameter of the same name is written
	// params.iteration.
	Vars map[string]Type
	// Metrics makes every other name a metric.
	Metrics bool
	// Random allows uniform() and the other random functions.
	Random bool
	// Forbidden maps names that exist but may not be used here to the reason.
	Forbidden map[string]string
}

// names lists all names that may be used, for messages.
func (s *Scope) names() []string {
	var all []string
	for _, p := range s.Params {
		if s.Forbidden[p.Name] == "" {
			all = append(all, p.Name)
		}
	}
	for name := range s.Constants {
		all = append(all, name)
	}
	for name := range s.Vars {
		all = append(all, name)
	}
	return append(all, s.Computed...)
}

// paramType returns the type of a parameter's values.
func paramType(p *space.Param) Type {
	switch p.Kind {
	case space.Int:
		return Int
	case space.Real, space.Normal:
		return Float
	}
	t := typeOf(Choice(p, 0))
	for i := range p.Choices {
		t = commonType(t, typeOf(Choice(p, i)))
	}
	return t
}

func commonType(a, b Type) Type {
	switch {
	case a == b:
		return a
	case a == Int && b == Float, a == Float && b == Int:
		return Float
	}
	return Any
}

func typeOf(v any) Type {
	switch v.(type) {
	case int64:
		return Int
	case float64:
		return Float
	case bool:
		return Bool
	case string:
		return Text
	}
	return Any
}

// Choice returns the value of choice i of p, or nil.
func Choice(p *space.Param, i int) any {
	if i < 0 || i >= len(p.Choices) {
		return nil
	}
	v, err := FromJSON(p.Choices[i])
	if err != nil {
		return nil
	}
	return v
}

// Coordinate returns the value that coordinate x of a point stands for; ok is false where the
// parameter does not exist or x stands for no value.
func Coordinate(p *space.Param, x float64) (v any, ok bool) {
	switch {
	case math.IsNaN(x):
		return nil, false
	case p.Kind == space.Int:
		return int64(x), true
	case p.Kind == space.Real || p.Kind == space.Normal:
		return x, true
	case x != math.Trunc(x) || x < 0 || x >= float64(len(p.Choices)):
		return nil, false
	}
	return Choice(p, int(x)), true
}

// FromJSON decodes a JSON value to the Go values that expressions use: integers that fit become int64,
// other numbers float64.
func FromJSON(data []byte) (any, error) {
	if n := len(data); n >= 2 && data[0] == '"' && data[n-1] == '"' && Plain(string(data[1:n-1])) {
		return string(data[1 : n-1]), nil
	}
	if v, ok := simple(data); ok {
		return v, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return Normal(v)
}

// Plain reports whether JSON encodes a text without escapes, as it does most texts.
func Plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Normal replaces each json.Number in v by an int64 or a float64.
func Normal(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			if v[i], err = Normal(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = Normal(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func number(n json.Number) (any, error) {
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("number %s is out of range", n)
	}
	return f, nil
}
