package fit

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// cases are schemas, and values with the places and rules of their faults. No fault means that the value fits.
var cases = []struct {
	schema string
	values map[string]string
}{
	{`true`, map[string]string{`1`: "", `{"a": []}`: ""}},
	{`false`, map[string]string{`1`: " false"}},
	{`{"type": "integer"}`, map[string]string{`1`: "", `1.0`: "", `1e2`: "", `1.5`: " type",
		`"1"`: " type", `null`: " type",
		`123456789012345678901234567890`: ""}},
	{`{"type": ["null", "string"]}`, map[string]string{`null`: "", `"x"`: "", `3`: " type"}},
	{`{"enum": [1, "a", null]}`, map[string]string{`1`: "", `null`: "", `1.0`: "", `"b"`: " enum"}},
	{`{"properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/definitions/n"},
		"definitions": {"definitions": {"n/o": {"minimum": 2}}},
		"c": {"$ref": "#/properties/definitions/definitions/n~1o"}},
		"$defs": {"n": {"type": "integer"}}, "definitions": {"n": {"type": "string"}}}`,
		map[string]string{`{"a": 1, "b": "x", "c": 2}`: "", `{"a": "x", "b": 1, "c": 1}`: "a type; b type; c minimum"}},
	{`{"const": {"a": [1]}}`, map[string]string{`{"a": [1]}`: "", `{"a": [2]}`: " const"}},
	{`{"maximum": 9007199254740992, "multipleOf": 2}`, map[string]string{`9007199254740992`: "",
		`9007199254740993`: " maximum", `3`: " multipleOf", `1e400`: " maximum"}},
	{`{"minimum": 1, "exclusiveMaximum": 3}`, map[string]string{`1`: "", `0`: " minimum", `3`: " exclusiveMaximum"}},
	{`{"minLength": 2, "maxLength": 3, "pattern": "^a"}`, map[string]string{`"äa"`: " pattern", `"a"`: " minLength",
		`"abcd"`: " maxLength", `"ab"`: "", `7`: ""}},
	{`{"properties": {"a": {"type": "integer"}, "b/c": {"items": {"minimum": 2}}}, "required": ["a", "z"],
		"additionalProperties": false}`, map[string]string{`{"a": 1, "z": 2}`: " additionalProperties(z)",
		`{"a": "1", "b/c": [2, 1, 0], "q": 1}`: "a type; b/c.1 minimum; b/c.2 minimum; required(z); " +
			"additionalProperties(q)"}},
	{`{"patternProperties": {"^n": {"type": "number"}}, "additionalProperties": {"type": "string"}}`,
		map[string]string{`{"n1": 1, "x": "y"}`: "", `{"n1": "1", "x": 2}`: "n1 type; x type"}},
	{`{"prefixItems": [{"type": "string"}, true], "items": {"type": "integer"}, "uniqueItems": true, "maxItems": 4}`,
		map[string]string{`["a", 0, 1, 2]`: "", `[1, 2, "x"]`: "0 type; 2 type", `["a", 1, 1]`: " uniqueItems",
			`["a", 1, 2, 3, 4]`: " maxItems"}},
	{`{"$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}, "v": {"type": "integer"}}}},
		"$ref": "#/$defs/n", "required": ["v"]}`, map[string]string{`{"v": 1, "next": {"next": {"v": 2}}}`: "",
		`{"next": {"next": {"v": "2"}}}`: "next.next.v type; required(v)"}},
	{`{"$id": "https://example.com/a.json", "properties": {"x": {"$ref": "#count"}, "y": {"$ref": "b.json"}},
		"$defs": {"c": {"$anchor": "count", "minimum": 3}, "d": {"$id": "b.json", "type": "string"}}}`,
		map[string]string{`{"x": 3, "y": "z"}`: "", `{"x": 2, "y": 1}`: "x minimum; y type"}},
	{`{"oneOf": [{"type": "integer"}, {"minimum": 2}]}`, map[string]string{`1`: "", `2.5`: "",
		`2`: " oneOf", `1.5`: " oneOf"}},
	{`{"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}`,
		map[string]string{`"a"`: "", `["a"]`: "", `[1]`: " anyOf"}},
	{`{"allOf": [{"required": ["a"]}, {"properties": {"b": {"minimum": 1}}}], "not": {"required": ["c"]}}`,
		map[string]string{`{"a": 1}`: "", `{"b": 0}`: "required(a); b minimum", `{"a": 1, "c": 1}`: " not"}},
	{`{"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"required": ["a"]},
		"else": {"required": ["b"]}}`, map[string]string{`{"k": 1}`: "required(a)",
		`{"b": 1}`: "", `{"k": 2}`: "required(b)"}},
	{`{"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"properties": {"d": {"type": "null"}}}}}`,
		map[string]string{`{"a": 1}`: " dependentRequired", `{"c": 1, "d": 2}`: "d type", `{"d": 2}`: ""}},
	{`{"contains": {"type": "string"}, "minContains": 2}`,
		map[string]string{`["a", "b"]`: "", `["a"]`: " minContains"}},
	{`{"allOf": [{"properties": {"a": true}}], "unevaluatedProperties": false}`,
		map[string]string{`{"a": 1}`: "", `{"b": 1}`: " unevaluatedProperties"}},
	{`{"propertyNames": {"maxLength": 2}, "maxProperties": 2, "minProperties": 1}`,
		map[string]string{`{"abc": 1}`: " propertyNames(abc)", `{}`: " minProperties",
			`{"a": 1, "b": 2, "c": 3}`: " maxProperties"}},
	{`{"format": "date"}`, map[string]string{`"today"`: ""}},
	{`{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"day": {"format": "date"}},
		"properties": {"d": {"$ref": "#/definitions/day", "type": "integer"}, "t": {"format": "date-time"},
		"l": {"items": [{"type": "string"}], "additionalItems": {"format": "email"}}}}`,
		map[string]string{`{"d": "2024-02-29", "t": "2024-02-29T01:02:03Z", "l": ["", "a@b.c"]}`: "",
			`{"d": "today", "t": "now", "l": ["", "ab"]}`: "d format; l.1 format; t format", `{"l": [1]}`: "l.0 type"}},
	{`{"$schema": "http://json-schema.org/draft-07/schema#", "format": "ipv4"}`, map[string]string{`"1.2.3.4"`: "",
		`"1.2.3"`: " format", `7`: ""}},
}

// TestFaults compares the faults with those expected, and whether there are any with what another library says.
func TestFaults(t *testing.T) {
	for _, c := range cases {
		s, err := Compile([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		other := otherLibrary(t, c.schema)
		for value, want := range c.values {
			faults, err := s.Faults([]byte(value))
			if got := summary(faults); err != nil || got != sorted(want) {
				t.Errorf("%s, %s:\n got %q, %v\nwant %q", c.schema, value, got, err, sorted(want))
			}
			if fits := other.Validate(decoded(t, value)) == nil; fits != (len(faults) == 0) {
				t.Errorf("%s, %s: it fits for another library: %v", c.schema, value, fits)
			}
		}
	}
}

// summary is "PATH RULE" of each fault.
func summary(faults []Fault) string {
	var all []string
	for _, f := range faults {
		text := strings.Join(f.Path, ".") + " " + f.Rule
		if len(f.Names) > 0 {
			text += fmt.Sprintf("(%s)", strings.Join(f.Names, ","))
		}
		all = append(all, text)
	}
	return sorted(strings.Join(all, ";"))
}

func sorted(text string) string {
	if text == "" || text == " " {
		return text
	}
	all := strings.Split(text, ";")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func otherLibrary(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	path := filepath.ToSlash("mem:///schema.json")
	if err := c.AddResource(path, decoded(t, text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRefusedSchemas has schemas that are none, and those on which a check would not end.
func TestRefusedSchemas(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                 "unexpected EOF",
		`{} {}`:             "text after",
		`3`:                 "neither an object",
		`{"type": "strin"}`: "no type strin",
		`{"properties": {"default": {"type": ["string", "x"]}}}`: "no type x",
		`{"minimum": "one"}`:                          `minimum at "#" is "one", expected a number`,
		`{"items": {"minLength": -1}}`:                `minLength at "#/items" is -1, expected a whole number from 0`,
		`{"multipleOf": 0}`:                           "expected a number above 0",
		`{"required": "a"}`:                           `required at "#" is "a", expected a list of texts`,
		`{"properties": []}`:                          `properties at "#" is [], expected a map of schemas`,
		`{"oneOf": [1]}`:                              `oneOf at "#" is [1], expected a list of schemas`,
		`{"uniqueItems": 1}`:                          `uniqueItems at "#" is 1, expected true or false`,
		`{"patternProperties": {"[": true}}`:          `"[" is not a regular expression`,
		`{"pattern": "("}`:                            `pattern at "#": "(" is not a regular expression`,
		`{"$ref": "#/$defs/x"}`:                       `$ref at "#" is "#/$defs/x", and there is no such schema`,
		`{"$ref": "#x"}`:                              `and there is no such schema`,
		`{"$ref": "https://example.com/schema.json"}`: "elsewhere",
		`{"$schema": "https://example.com/schema"}`:   "expected a draft",
		strings.Repeat(`{"items":`, 5000) + "{}" + strings.Repeat("}", 5000):       "it is nested more than 200 deep",
		`{"default": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}": "it is nested more than 200 deep",
	} {
		if _, err := Compile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
	for _, text := range []string{
		`{"$ref": "#"}`, `{"$anchor": "a", "allOf": [{"$ref": "#a"}]}`,
		`{"$id": "mem:///x", "not": {"$ref": "mem:///x"}}`,
		`{"$id": "https://a.b/c", "$defs": {"d": {"$id": "d", "allOf": [{"$ref": "https://a.b/d"}]}}}`,
		`{"properties": {"default": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"if": {"$ref": "#/$defs/a"}}}}`,
	} {
		if _, err := Compile([]byte(text)); err == nil || !strings.Contains(err.Error(), "refers to itself") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Compile([]byte(`{"properties": {"a": {"$ref": "#"}}, "default": {"type": "x"}}`)); err != nil {
		t.Errorf("a tree: %v", err)
	}
	if _, err := Compile([]byte(strings.Repeat(`{"items":`, 199) + "{}" + strings.Repeat("}", 199))); err != nil {
		t.Errorf("just deep enough: %v", err)
	}
}

// TestWords has a value that breaks each keyword: the text is for users, who do not know the library.
func TestWords(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"type": ["integer", "null"]}`, `"x"`, `found "x", expected a whole number or nothing`},
		{`{"enum": ["a", 1, null]}`, `"x"`, `found "x", expected a, 1, null`},
		{`{"const": "a"}`, `"x"`, `found "x", expected a`},
		{`{"multipleOf": 0.5}`, `0.7`, `found 0.7, expected a multiple of 0.5`},
		{`{"minimum": 10}`, `5`, `found 5, expected at least 10`},
		{`{"maximum": 10}`, `50`, `found 50, expected at most 10`},
		{`{"exclusiveMinimum": 10}`, `10`, `found 10, expected more than 10`},
		{`{"exclusiveMaximum": 1e3}`, `1000`, `found 1000, expected less than 1e3`},
		{`{"minLength": 1}`, `""`, `found "", expected a text that is not empty`},
		{`{"minLength": 2}`, `"x"`, `found "x", expected a text of at least 2 characters`},
		{`{"maxLength": 1}`, `"xy"`, `found "xy", expected a text of at most 1 character`},
		{`{"pattern": "^a"}`, `"xy"`, `found "xy", expected a text that matches ^a`},
		{`{"minItems": 1}`, `[]`, `found [], expected a list that is not empty`},
		{`{"minItems": 2}`, `[1]`, `found [1], expected a list of at least 2 items`},
		{`{"maxItems": 0}`, `[1]`, `found [1], expected a list that is empty`},
		{`{"uniqueItems": true}`, `[1, 1]`, `found [1,1], expected a list without equal items`},
		{`{"minProperties": 1}`, `{}`, `found {}, expected a map that is not empty`},
		{`{"maxProperties": 1}`, `{"a": 1, "b": 2}`, `found {"a":1,"b":2}, expected a map of at most 1 key`},
		{`{"required": ["a", "b"]}`, `{}`, `a, b missing`},
		{`{"additionalProperties": false}`, `{"a": 1}`, `unknown: a`},
		{`{"dependentRequired": {"a": ["b", "c"]}}`, `{"a": 1}`, `found {"a":1}, expected b, c beside a`},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}}`, `{"a": 1}`,
			`found {"a":1}, expected b beside a`},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies":
			{"a": {"properties": {"b": {"type": "null"}}}}}`, `{"a": 1, "b": 1}`, `at "b": found 1, expected nothing`},
		{`{"anyOf": [{"type": "null"}]}`, `1`, `found 1, expected one of the forms that it may have`},
		{`{"oneOf": [true, true]}`, `1`, `found 1, expected a value of only one of the forms that it may have`},
		{`{"not": {"enum": [1, 2]}}`, `1`, `found 1, expected anything but 1, 2`},
		{`{"not": {"minimum": 1}}`, `1`, `found 1, expected a value that its schema does not exclude`},
		{`{"contains": {"type": "null"}}`, `[1]`,
			`found [1], expected a list with at least 1 item of the kind that it must contain`},
		{`{"contains": {"type": "null"}, "maxContains": 1}`, `[null, null]`,
			`found [null,null], expected a list with at most 1 item of the kind that it must contain`},
		{`{"propertyNames": {"maxLength": 2}}`, `{"abc": 1}`,
			`found {"abc":1}, expected each key to be a text of at most 2 characters, not "abc"`},
		{`{"unevaluatedProperties": false}`, `{"a": 1}`,
			`found {"a":1}, expected no other keys than those that its schema names`},
		{`{"unevaluatedItems": false}`, `[1]`, `found [1], expected no other items than those that its schema names`},
		{`{"items": false}`, `[1]`, `at "0": found 1, expected nothing here`},
		{`{"$defs": {"a": {"$dynamicAnchor": "a", "minimum": 2}}, "$dynamicRef": "#a"}`, `1`,
			`found 1, expected a value that fits its schema`},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "format": "date"}`, `"x"`,
			`found "x", expected a text of the format date`},
	} {
		s, err := Compile([]byte(c.schema))
		if err != nil {
			t.Error(c.schema, err)
			continue
		}
		faults, err := s.Faults([]byte(c.value))
		if err != nil || len(faults) != 1 || faults[0].Error() != c.want {
			t.Errorf("%s, %s: %v, %v; want %s", c.schema, c.value, faults, err, c.want)
		}
	}
}
