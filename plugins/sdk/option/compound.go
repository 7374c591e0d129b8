package option

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// List is the type of lists of such items.
func List[T any](item Type[T]) Type[[]T] {
	t := Type[[]T]{schema: func() schema {
		of := item.schema()
		return schema{Type: kinds{"array"}, Items: &of}
	}}
	t.read = func(path string, given json.RawMessage) (list []T, err error) {
		var items []json.RawMessage
		if kindOf(given) != "array" || json.Unmarshal(given, &items) != nil {
			return nil, t.wrong(path, given)
		}
		list = make([]T, len(items))
		for i := range items {
			if list[i], err = item.read(below(path, i), items[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	t.show = func(list []T) any {
		shown := make([]any, len(list))
		for i := range list {
			shown[i] = item.show(list[i])
		}
		return shown
	}
	return t
}

// Sized is the type of lists with at least and at most so many items; a most of 0 is unlimited.
func Sized[T any](t Type[[]T], least, most int) Type[[]T] {
	unsized := t.schema
	t.schema = func() schema {
		s := unsized()
		if s.MinItems = &least; most > 0 {
			s.MaxItems = &most
		}
		return s
	}
	return t.but(func(list []T) bool { return len(list) < least || most > 0 && len(list) > most })
}

// Map is the type of maps from any names to such values.
func Map[T any](value Type[T]) Type[map[string]T] {
	t := Type[map[string]T]{schema: func() schema {
		of := value.schema()
		return schema{Type: kinds{"object"}, Extra: &extra{of: &of}}
	}}
	t.read = func(path string, given json.RawMessage) (map[string]T, error) {
		var values map[string]json.RawMessage
		if kindOf(given) != "object" || json.Unmarshal(given, &values) != nil {
			return nil, t.wrong(path, given)
		}
		all := make(map[string]T, len(values))
		for _, name := range slices.Sorted(maps.Keys(values)) {
			v, err := value.read(below(path, name), values[name])
			if err != nil {
				return nil, err
			}
			all[name] = v
		}
		return all, nil
	}
	t.show = func(all map[string]T) any {
		shown := map[string]any{}
		for name, v := range all {
			shown[name] = value.show(v)
		}
		return shown
	}
	return t
}

// Object is the type of maps with their own options, declared as in [Declare].
func Object[O any](declare func(o *O) []Option) Type[O] {
	return Type[O]{
		schema: func() schema { return objectSchema(declare(new(O))) },
		read: func(path string, given json.RawMessage) (o O, err error) {
			options := declare(&o)
			reset(options)
			return o, readObject(path, options, given)
		},
		show: func(o O) any {
			shown := map[string]any{}
			for _, one := range declare(&o) {
				shown[one.name] = one.show()
			}
			return shown
		},
	}
}

// OrNull is the type of values of t and null, which becomes nil.
func OrNull[T any](t Type[T]) Type[*T] {
	both := func() schema { return t.schema().orNull() }
	return Type[*T]{
		schema: both,
		read: func(path string, given json.RawMessage) (*T, error) {
			if kindOf(given) == "null" {
				return nil, nil
			}
			v, err := t.read(path, given)
			if w, ok := errors.AsType[*wrong](err); ok && w.path == path {
				s := both()
				w.allowed = s.words()
			}
			return &v, err
		},
		show: func(v *T) any {
			if v == nil {
				return nil
			}
			return t.show(*v)
		},
	}
}

// Or is the type of values of t, and of values of other that stand for some of them. The JSON type
// of a value must decide which one it is.
func Or[T, S any](t Type[T], other Type[S], means func(S) T) Type[T] {
	both := func() schema {
		first, second := other.schema(), t.schema()
		return schema{OneOf: []*schema{&first, &second}}
	}
	read := func(path string, given json.RawMessage) (T, error) {
		s := both()
		switch kind := kindOf(given); {
		case slices.Contains(s.OneOf[0].kinds(), kind):
			v, err := other.read(path, given)
			return means(v), err
		case slices.Contains(s.OneOf[1].kinds(), kind):
			return t.read(path, given)
		}
		var none T
		return none, &wrong{"", path, given, s.words()}
	}
	return Type[T]{schema: both, read: read, show: t.show}
}
