package option

import (
	"encoding/json"
	"fmt"
)

// An Option is one declared option.
type Option struct {
	name     string
	required bool
	// describe returns the schema, which reading does not need.
	describe func() schema
	// reset sets the bound variable to the default; read sets it to the given value.
	reset func()
	read  func(path string, given json.RawMessage) error
	// show returns the bound variable as JSON.
	show func() any
}

// Of declares an option of any type. Its value is stored in the variable at into; without user
// input it is the default value.
func Of[T any](name string, into *T, value T, t Type[T], doc string) Option {
	return Option{
		name: name,
		describe: func() schema {
			s := t.schema()
			s.Description, s.Default = doc, encode(t.show(value))
			return s
		},
		reset: func() { *into = value },
		read: func(path string, given json.RawMessage) (err error) {
			*into, err = t.read(path, given)
			return err
		},
		show: func() any { return t.show(*into) },
	}
}

// Int declares an option with integer values.
func Int[T integer](name string, into *T, value T, allowed Range, doc string) Option {
	return Of(name, into, value, Whole[T](allowed), doc)
}

// Float declares an option with numeric values.
func Float(name string, into *float64, value float64, allowed Range, doc string) Option {
	return Of(name, into, value, Number(allowed), doc)
}

// Bool declares an option that is true or false.
func Bool(name string, into *bool, value bool, doc string) Option {
	return Of(name, into, value, Truth(), doc)
}

// String declares an option with arbitrary strings as values.
func String(name string, into *string, value, doc string) Option {
	return Of(name, into, value, Text(), doc)
}

// Enum declares an option with some words as values.
func Enum[T ~string](name string, into *T, value T, doc string, words ...T) Option {
	return Of(name, into, value, Word(words...), doc)
}

// Required returns the option without a default: users must set it.
func (o Option) Required() Option {
	o.required = true
	return o
}

// Wrong returns the error for an option whose value the declaration allows and the plugin does not,
// for example because of another option. allowed describes the allowed values, as a format.
func Wrong(name string, value any, allowed string, args ...any) error {
	return &wrong{"option", name, encode(value), fmt.Sprintf(allowed, args...)}
}

// wrong is the error for a value that is not allowed; without a value, the option is missing.
// [Set.Read] sets the noun.
type wrong struct {
	noun, path string
	given      json.RawMessage
	allowed    string
}

func (w *wrong) Error() string {
	if w.path == "" {
		return fmt.Sprintf("the %ss are %s; allowed: %s", w.noun, short(w.given), w.allowed)
	}
	if w.given == nil {
		return fmt.Sprintf("%s %q is missing; allowed: %s", w.noun, w.path, w.allowed)
	}
	return fmt.Sprintf("%s %q is %s; allowed: %s", w.noun, w.path, short(w.given), w.allowed)
}

// longest is the number of characters of a value in a message.
const longest = 60

// short returns a value as one line.
func short(given json.RawMessage) string {
	text := []rune(string(compact(given)))
	if len(text) > longest {
		return string(text[:longest]) + "…"
	}
	return string(text)
}
