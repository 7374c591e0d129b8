package option

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
)

// A Type describes the possible values of an option.
type Type[T any] struct {
	// schema makes the JSON Schema; reading needs it only for errors.
	schema func() schema
	// read decodes a T from JSON; path is its position.
	read func(path string, given json.RawMessage) (T, error)
	// show returns the value that encoding/json writes for a T.
	show func(T) any
}

// wrong returns the error for a value that is not of the type.
func (t Type[T]) wrong(path string, given json.RawMessage) error {
	s := t.schema()
	words := s.words()
	if x, ok := number(given); ok && math.Abs(x) >= MaxInt && s.isInteger() {
		words = "a whole number" + s.bounds(math.Inf(1)) // with the bounds that words omits
	}
	return &wrong{"", path, given, words}
}

// simple returns a type whose values are decoded by a function that reports success.
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

// Whole is the type of integers, limited by [MaxInt] and T.
func Whole[T integer](allowed Range) Type[T] {
	allowed = wholes[T](allowed)
	return simple(allowed.schema("integer"), func(given json.RawMessage) (T, bool) {
		x, ok := number(given)
		return T(x), ok && x == math.Trunc(x) && allowed.has(x) && exact(given)
	})
}

// exact reports whether an integer is within the limit of exact JSON numbers; others were rounded.
func exact(given json.RawMessage) bool {
	n, err := strconv.ParseInt(string(given), 10, 64)
	return err != nil || -MaxInt <= n && n <= MaxInt
}

// Number is the type of numbers.
func Number(allowed Range) Type[float64] {
	return simple(allowed.schema("number"), func(given json.RawMessage) (float64, bool) {
		x, ok := number(given)
		return x, ok && allowed.has(x)
	})
}

// number decodes a JSON number; it fails if the number is too large.
func number(given json.RawMessage) (float64, bool) {
	x, err := strconv.ParseFloat(string(given), 64)
	return x, err == nil && kindOf(given) == "number"
}

// Truth is the type of booleans.
func Truth() Type[bool] {
	return simple(typed("boolean"), func(given json.RawMessage) (bool, bool) {
		return string(given) == "true", kindOf(given) == "boolean"
	})
}

// Text is the type of strings.
func Text() Type[string] { return text[string](typed("string")) }

// NonEmpty is the type of strings that are not empty.
func NonEmpty() Type[string] {
	t := text[string](func() schema { return schema{Type: kinds{"string"}, MinLength: new(1)} })
	return t.but(func(s string) bool { return s == "" })
}

// typed returns a function that makes the schema of values of the named types.
func typed(names ...string) func() schema {
	return func() schema { return schema{Type: names} }
}

func text[T ~string](s func() schema) Type[T] {
	t := simple(s, func(given json.RawMessage) (v T, ok bool) {
		return v, kindOf(given) == "string" && json.Unmarshal(given, &v) == nil
	})
	t.show = func(v T) any { return string(v) }
	return t
}

// but returns the type without some of its values, which its schema excludes too.
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

// Word is the type of the given words.
func Word[T ~string](words ...T) Type[T] {
	s := func() (s schema) {
		for _, w := range words {
			s.Enum = append(s.Enum, encode(string(w)))
		}
		return s
	}
	return text[T](s).but(func(v T) bool { return !slices.Contains(words, v) })
}

// Raw is the type of values that the plugin decodes itself, from JSON. types are type names of JSON
// Schema: number, string, boolean, object, array, null.
func Raw(types ...string) Type[json.RawMessage] {
	return simple(typed(types...), func(given json.RawMessage) (json.RawMessage, bool) {
		return slices.Clone(given), slices.Contains(types, kindOf(given))
	})
}

// kindOf returns the type of a JSON value, by its first character.
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
