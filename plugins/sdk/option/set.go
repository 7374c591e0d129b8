package option

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Set is the declared options of a plugin; their values are an O.
type Set[O any] struct {
	declare func(*O) []Option
	noun    string
}

// Declare returns a Set. declare returns the options, bound to the fields of o; it is called for
// each new O. Schema panics if two options have the same name.
func Declare[O any](declare func(o *O) []Option) *Set[O] { return &Set[O]{declare, "option"} }

// Called returns the set with another noun for options in its errors, such as parameter.
func (s *Set[O]) Called(noun string) *Set[O] { return &Set[O]{s.declare, noun} }

// Names returns the names of the options, in the order of the declaration.
func (s *Set[O]) Names() (names []string) {
	for _, o := range s.declare(new(O)) {
		names = append(names, o.name)
	}
	return names
}

// Defaults returns the options with their default values.
func (s *Set[O]) Defaults() O {
	var into O
	reset(s.declare(&into))
	return into
}

// Read reads options, a JSON object, over the defaults. Empty input and null count as an empty
// object. The error is one line: what is wrong, where, and what is allowed.
func (s *Set[O]) Read(object []byte) (O, error) {
	var into O
	options := s.declare(&into)
	reset(options)
	err := s.read(options, object)
	return into, err
}

// ReadOver is like Read, with base instead of the defaults.
func (s *Set[O]) ReadOver(base O, object []byte) (O, error) {
	err := s.read(s.declare(&base), object)
	return base, err
}

func (s *Set[O]) read(options []Option, object []byte) error {
	object = bytes.TrimSpace(object)
	if len(object) == 0 || string(object) == "null" {
		object = []byte("{}")
	}
	if err := validate(object); err != nil {
		return fmt.Errorf("the %ss are not a JSON object: %w", s.noun, err)
	}
	err := readObject("", options, object)
	if w, ok := errors.AsType[*wrong](err); ok {
		w.noun = s.noun
	}
	if u, ok := errors.AsType[*unknown](err); ok {
		u.noun = s.noun
	}
	return err
}

// validate returns an error for invalid JSON.
func validate(object []byte) error {
	var any json.RawMessage
	return json.Unmarshal(object, &any)
}

// Schema returns the JSON Schema (draft 2020-12) of the options.
func (s *Set[O]) Schema() []byte {
	all := s.schema()
	return all.text()
}

func (s *Set[O]) schema() schema {
	all := objectSchema(s.declare(new(O)))
	all.Dialect = "https://json-schema.org/draft/2020-12/schema"
	return all
}

// JSON returns all options, in the form that Read accepts.
func (s *Set[O]) JSON(o O) []byte {
	return encode(Object(s.declare).show(o))
}

func reset(options []Option) {
	for _, o := range options {
		o.reset()
	}
}

// readObject sets the given options and keeps the others.
func readObject(path string, options []Option, given json.RawMessage) error {
	var values map[string]json.RawMessage
	if json.Unmarshal(given, &values) != nil || values == nil {
		return &wrong{"", path, given, "a map"}
	}
	for _, o := range options {
		value, ok := values[o.name]
		delete(values, o.name)
		switch {
		case ok:
			if err := o.read(below(path, o.name), value); err != nil {
				return err
			}
		case o.required:
			s := o.describe()
			return &wrong{"", below(path, o.name), nil, s.words()}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		return &unknown{path: below(path, name), known: options}
	}
	return nil
}

// below returns the path of a key or an index in a value.
func below(path string, key any) string { return strings.TrimPrefix(fmt.Sprint(path, ".", key), ".") }

// unknown is the error for an unknown name.
type unknown struct {
	noun, path string
	known      []Option
}

func (u *unknown) Error() string {
	var names []string
	for _, o := range u.known {
		names = append(names, o.name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("unknown %s %q: there are none", u.noun, u.path)
	}
	return fmt.Sprintf("unknown %s %q; known: %s", u.noun, u.path, strings.Join(names, ", "))
}
