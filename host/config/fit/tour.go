package fit

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A tour visits each schema of a document, for mistakes that the library does not see: types that do not exist, and
// schemas that refer to themselves for the same value, on which it would not end.
type tour struct {
	doc     any
	base    map[string]string // addresses of schemas, by JSON pointer
	places  map[string]string // JSON pointers, by address
	state   map[string]int
	trouble error
}

// States of a schema in the search for circles.
const (
	fresh = iota
	entered
	done
)

func newTour(doc any) *tour {
	t := &tour{doc: doc, base: map[string]string{}, places: map[string]string{place: ""}, state: map[string]int{}}
	t.each("", place, doc, func(pointer, base string, schema map[string]any) {
		t.base[pointer] = base
		if _, ok := schema["$id"].(string); ok {
			t.places[strings.TrimSuffix(base, "#")] = pointer
		}
		for _, key := range []string{"$anchor", "$dynamicAnchor"} {
			if name, ok := schema[key].(string); ok {
				t.places[base+"#"+name] = pointer
			}
		}
	})
	return t
}

// one, several and named are the keywords whose value is a schema, a list of schemas or a map of schemas.
var (
	one = []string{"not", "if", "then", "else", "items", "additionalItems", "additionalProperties", "contains",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema"}
	several = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	named   = []string{"$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"}
)

// each calls f for each schema of the document that is an object, with its pointer and its address.
func (t *tour) each(pointer, base string, at any, f func(pointer, base string, schema map[string]any)) {
	schema, ok := at.(map[string]any)
	if !ok {
		return
	}
	if id, ok := schema["$id"].(string); ok {
		base = absolute(base, id)
	}
	f(pointer, base, schema)
	for _, key := range one {
		t.each(pointer+"/"+key, base, schema[key], f)
	}
	for _, key := range several {
		for i, next := range list(schema[key]) {
			t.each(pointer+"/"+key+"/"+strconv.Itoa(i), base, next, f)
		}
	}
	for _, key := range named {
		some, _ := schema[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(some)) {
			t.each(pointer+"/"+key+"/"+escape(name), base, some[name], f)
		}
	}
}

func (t *tour) check() error {
	switch t.doc.(type) {
	case map[string]any, bool:
	default:
		return errors.New("it is neither an object nor true or false")
	}
	t.each("", place, t.doc, func(pointer, _ string, schema map[string]any) {
		t.enter(pointer, schema)
		t.types(pointer, schema["type"])
		if err := t.keywords(pointer, schema); err != nil && t.trouble == nil {
			t.trouble = err
		}
	})
	return t.trouble
}

// types checks the value of keyword type.
func (t *tour) types(pointer string, value any) {
	names := list(value)
	if name, ok := value.(string); ok {
		names = []any{name}
	}
	for _, name := range names {
		if !slices.Contains([]any{"null", "boolean", "object", "array", "number", "string", "integer"}, name) {
			t.trouble = fmt.Errorf("at %q: there is no type %v", "#"+pointer, name)
		}
	}
}

// enter follows the keywords that apply a schema to the same value.
func (t *tour) enter(pointer string, schema map[string]any) {
	switch t.state[pointer] {
	case entered:
		t.trouble = fmt.Errorf("the schema at %q refers to itself for the same value", "#"+pointer)
		return
	case done:
		return
	}
	t.state[pointer] = entered
	for _, next := range t.same(pointer, schema) {
		if to, ok := lookup(t.doc, next).(map[string]any); ok {
			t.enter(next, to)
		}
	}
	t.state[pointer] = done
}

// same returns the pointers of the schemas that apply to the same value.
func (t *tour) same(pointer string, schema map[string]any) (all []string) {
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if ref, ok := schema[key].(string); ok {
			if to, ok := t.target(pointer, ref); ok {
				all = append(all, to)
			}
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		all = append(all, pointer+"/"+key)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"} {
		switch some := schema[key].(type) {
		case []any:
			for i := range some {
				all = append(all, pointer+"/"+key+"/"+strconv.Itoa(i))
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(some)) {
				all = append(all, pointer+"/"+key+"/"+escape(name))
			}
		}
	}
	return all
}

// target returns the pointer to what a reference of the schema at a pointer refers to.
func (t *tour) target(pointer, ref string) (string, bool) {
	address, fragment, _ := strings.Cut(absolute(t.base[pointer], ref), "#")
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		to, ok := t.places[address+"#"+fragment]
		return to, ok
	}
	to, ok := t.places[address]
	if text, err := url.PathUnescape(fragment); err == nil {
		fragment = text
	}
	return to + fragment, ok
}

// absolute returns the address of a reference.
func absolute(base, ref string) string {
	from, err := url.Parse(base)
	to, err2 := url.Parse(ref)
	if err != nil || err2 != nil {
		return ref
	}
	return from.ResolveReference(to).String()
}
