package option

import (
	"encoding/json"
	"fmt"
)

// Option is one declared option.
type Option struct {
	name     string
	required bool
	// describe makes the schema: no reading needs it.
	describe func() schema
	// reset sets the bound variable to the default; read sets it to what is given.
	reset func()
	read  func(path string, given json.RawMessage) error
	// show is the bound variable as JSON.
	show func() any
}

// Of declares an option of any type. Its value goes to the variable at into; users who do
// not set it get the default value.
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

// Int declares an option that is a whole number.
func Int[T integer](name string, into *T, value T, allowed Range, doc string) Option {
	return Of(name, into, value, Whole[T](allowed), doc)
}

// Float declares an option that is a number.
func Float(name string, into *float64, value float64, allowed Range, doc string) Option {
	return Of(name, into, value, Number(allowed), doc)
}

// Bool declares an option that is true or false.
func Bool(name string, into *bool, value bool, doc string) Option {
	return Of(name, into, value, Truth(), doc)
}

// String declares an option that is any text.
func String(name string, into *string, value, doc string) Option {
	return Of(name, into, value, Text(), doc)
}

// Enum declares an option that is one of some words.
func Enum[T ~string](name string, into *T, value T, doc string, words ...T) Option {
	return Of(name, into, value, Word(words...), doc)
}

// Required is the option as one that users have to set: it has no default.
func (o Option) Required() Option {
	o.required = true
	return o
}

// Wrong is the error for an option whose value the declaration allows and the plugin does
// not, for example because of another option. allowed says what it may be, as a format.
func Wrong(name string, value any, allowed string, args ...any) error {
	return &wrong{"option", name, encode(value), fmt.Sprintf(allowed, args...)}
}

// wrong is a value that is not allowed; none is missing. The noun is filled in by [Set.Read].
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

// longest is how many characters of a value a message has.
const longest = 60

// short is a value as one line.
func short(given json.RawMessage) string {
	text := []rune(string(compact(given)))
	if len(text) > longest {
		return string(text[:longest]) + "…"
	}
	return string(text)
}
