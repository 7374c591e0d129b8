package option

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
)

// Type is what the values of an option may be.
type Type[T any] struct {
	// schema makes the JSON Schema: reading needs it for errors alone.
	schema func() schema
	// read makes a T of JSON; path is where it is.
	read func(path string, given json.RawMessage) (T, error)
	// show makes of a T what encoding/json writes.
	show func(T) any
}

// wrong is the error for a value that is not of the type.
func (t Type[T]) wrong(path string, given json.RawMessage) error {
	s := t.schema()
	words := s.words()
	if x, ok := number(given); ok && math.Abs(x) >= MaxInt && s.isInteger() {
		words = "a whole number" + s.bounds(math.Inf(1)) // with the bounds that words leaves out
	}
	return &wrong{"", path, given, words}
}

// simple is a type whose values are read by a function that says whether it could.
func simple[T any](s func() schema, read func(json.RawMessage) (T, bool)) Type[T] {
	t := Type[T]{schema: s, show: func(v T) any { return v }}
	t.read = func(path string, given json.RawMessage) (T, error) {
		v, ok := read(given)
		if !ok {
			return v, t.wrong(path, given)
		}
		return v, nil
	}
	return t
}

// Whole is whole numbers, at most [MaxInt] and what a T can be.
func Whole[T integer](allowed Range) Type[T] {
	allowed = wholes[T](allowed)
	return simple(allowed.schema("integer"), func(given json.RawMessage) (T, bool) {
		x, ok := number(given)
		return T(x), ok && x == math.Trunc(x) && allowed.has(x) && exact(given)
	})
}

// exact says whether a whole number is as large as numbers of JSON can be: others were
// rounded.
func exact(given json.RawMessage) bool {
	n, err := strconv.ParseInt(string(given), 10, 64)
	return err != nil || -MaxInt <= n && n <= MaxInt
}

// Number is numbers.
func Number(allowed Range) Type[float64] {
	return simple(allowed.schema("number"), func(given json.RawMessage) (float64, bool) {
		x, ok := number(given)
		return x, ok && allowed.has(x)
	})
}

// number reads a number of JSON; those that are too large are none.
func number(given json.RawMessage) (float64, bool) {
	x, err := strconv.ParseFloat(string(given), 64)
	return x, err == nil && kindOf(given) == "number"
}

// Truth is true and false.
func Truth() Type[bool] {
	return simple(typed("boolean"), func(given json.RawMessage) (bool, bool) {
		return string(given) == "true", kindOf(given) == "boolean"
	})
}

// Text is texts.
func Text() Type[string] { return text[string](typed("string")) }

// NonEmpty is texts but for the empty one.
func NonEmpty() Type[string] {
	t := text[string](func() schema { return schema{Type: kinds{"string"}, MinLength: new(1)} })
	return t.but(func(s string) bool { return s == "" })
}

// typed makes the schema of values of one type, or several.
func typed(names ...string) func() schema {
	return func() schema { return schema{Type: names} }
}

func text[T ~string](s func() schema) Type[T] {
	return simple(s, func(given json.RawMessage) (v T, ok bool) {
		return v, kindOf(given) == "string" && json.Unmarshal(given, &v) == nil
	})
}

// but is the type without some of its values, which its schema does not have either.
func (t Type[T]) but(excluded func(T) bool) Type[T] {
	read := t.read
	t.read = func(path string, given json.RawMessage) (T, error) {
		v, err := read(path, given)
		if w, ok := errors.AsType[*wrong](err); ok && w.path == path || err == nil && excluded(v) {
			err = t.wrong(path, given)
		}
		return v, err
	}
	return t
}

// Word is one of some words.
func Word[T ~string](words ...T) Type[T] {
	s := func() (s schema) {
		for _, w := range words {
			s.Enum = append(s.Enum, encode(w))
		}
		return s
	}
	return text[T](s).but(func(v T) bool { return !slices.Contains(words, v) })
}

// Raw is values that the plugin reads itself, as JSON. types are names of JSON Schema:
// number, string, boolean, object, array, null.
func Raw(types ...string) Type[json.RawMessage] {
	return simple(typed(types...), func(given json.RawMessage) (json.RawMessage, bool) {
		return slices.Clone(given), slices.Contains(types, kindOf(given))
	})
}

// kindOf is the type of a JSON value, by its first character.
func kindOf(given json.RawMessage) string {
	switch given = bytes.TrimSpace(given); {
	case len(given) == 0:
		return ""
	case given[0] == '"':
		return "string"
	case given[0] == '{':
		return "object"
	case given[0] == '[':
		return "array"
	case given[0] == 'n':
		return "null"
	case given[0] == 't', given[0] == 'f':
		return "boolean"
	}
	return "number"
}
