package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// form is what the value of a keyword has to be.
type form struct {
	words string
	is    func(any) bool
}

var (
	aNumber   = form{"a number", func(v any) bool { _, ok := v.(json.Number); return ok }}
	aFactor   = form{"a number above 0", func(v any) bool { x, ok := amount(v); return ok && x > 0 }}
	aCount    = form{"a whole number from 0", isCount}
	aText     = form{"a text", func(v any) bool { _, ok := v.(string); return ok }}
	aFlag     = form{"true or false", func(v any) bool { _, ok := v.(bool); return ok }}
	aList     = form{"a list", func(v any) bool { _, ok := v.([]any); return ok }}
	names     = form{"a list of texts", func(v any) bool { return allOf(v, aText.is) }}
	namesOf   = form{"a map of lists of texts", func(v any) bool { return allIn(v, names.is) }}
	aSchema   = form{"a schema: a map, true or false", isSchema}
	schemas   = form{"a list of schemas", func(v any) bool { return allOf(v, isSchema) }}
	schemasOf = form{"a map of schemas", func(v any) bool { return allIn(v, isSchema) }}
)

// forms are the keywords whose form the library needs.
var forms = map[string]form{
	"minimum": aNumber, "maximum": aNumber, "exclusiveMinimum": aNumber, "exclusiveMaximum": aNumber,
	"multipleOf": aFactor, "minLength": aCount, "maxLength": aCount, "minItems": aCount, "maxItems": aCount,
	"minContains": aCount, "maxContains": aCount, "minProperties": aCount, "maxProperties": aCount,
	"$id": aText, "$ref": aText, "$anchor": aText, "$dynamicAnchor": aText, "$dynamicRef": aText, "$comment": aText,
	"title": aText, "description": aText, "pattern": aText, "format": aText, "contentEncoding": aText,
	"contentMediaType": aText, "uniqueItems": aFlag, "deprecated": aFlag, "readOnly": aFlag, "writeOnly": aFlag,
	"enum": aList, "examples": aList, "required": names, "dependentRequired": namesOf,
	"not": aSchema, "if": aSchema, "then": aSchema, "else": aSchema, "additionalItems": aSchema,
	"additionalProperties": aSchema, "contains": aSchema, "propertyNames": aSchema, "unevaluatedItems": aSchema,
	"unevaluatedProperties": aSchema, "contentSchema": aSchema, "allOf": schemas, "anyOf": schemas, "oneOf": schemas,
	"prefixItems": schemas, "$defs": schemasOf, "definitions": schemasOf, "properties": schemasOf,
	"patternProperties": schemasOf, "dependentSchemas": schemasOf,
	"items": {"a schema, or a list of schemas", func(v any) bool { return isSchema(v) || allOf(v, isSchema) }},
	"dependencies": {"a map of schemas and of lists of texts", func(v any) bool {
		return allIn(v, func(v any) bool { return isSchema(v) || names.is(v) })
	}},
}

func amount(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	x, err := n.Float64()
	return x, err == nil
}

func isCount(v any) bool {
	x, ok := amount(v)
	return ok && x >= 0 && x == math.Trunc(x)
}

func isSchema(v any) bool {
	switch v.(type) {
	case map[string]any, bool:
		return true
	}
	return false
}

func allOf(v any, is func(any) bool) bool {
	l, ok := v.([]any)
	return ok && !slices.ContainsFunc(l, func(v any) bool { return !is(v) })
}

func allIn(v any, is func(any) bool) bool {
	m, ok := v.(map[string]any)
	for _, next := range m {
		ok = ok && is(next)
	}
	return ok
}

// keywords returns what is wrong with the keywords of a schema, in words for the author of the plugin.
func (t *tour) keywords(pointer string, schema map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		if form, known := forms[key]; known && !form.is(schema[key]) {
			return fmt.Errorf("%s at %q is %s, expected %s", key, "#"+pointer, shown(schema[key]), form.words)
		}
	}
	if pattern, ok := schema["pattern"].(string); ok {
		if err := expression(pattern); err != nil {
			return fmt.Errorf("pattern at %q: %w", "#"+pointer, err)
		}
	}
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if err := expression(pattern); err != nil {
			return fmt.Errorf("patternProperties at %q: %w", "#"+pointer, err)
		}
	}
	return t.references(pointer, schema)
}

// expression checks a regular expression.
func expression(text string) error {
	_, err := regexp.Compile(text)
	if err == nil {
		return nil
	}
	why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		why = string(wrong.Code)
	}
	return fmt.Errorf("%q is not a regular expression as Go knows them (RE2): %s", text, why)
}

// references checks that the schemas exist to which a schema refers.
func (t *tour) references(pointer string, schema map[string]any) error {
	for _, key := range []string{"$ref", "$dynamicRef"} {
		ref, ok := schema[key].(string)
		if !ok {
			continue
		}
		to, here := t.target(pointer, ref)
		address, _, _ := strings.Cut(absolute(t.base[pointer], ref), "#")
		_, known := t.places[address]
		switch {
		case !here && !known:
			return fmt.Errorf("%s at %q is %q, which is elsewhere: nothing is loaded, put it into $defs", key,
				"#"+pointer, ref)
		case !here, !isSchema(lookup(t.doc, to)):
			return fmt.Errorf("%s at %q is %q, and there is no such schema", key, "#"+pointer, ref)
		}
	}
	return nil
}
