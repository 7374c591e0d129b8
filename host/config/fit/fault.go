package fit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Fault is a place at which a value breaks a rule of its schema.
type Fault struct {
	// Path are the keys and indices that lead to the place.
	Path []string
	// Rule is the keyword of the rule; "" where the library alone knows.
	Rule string
	// Want is the keyword's value, Got the value that breaks it.
	Want, Got any
	// Names are the keys that are missing (rule required), or that may not be there (rule additionalProperties).
	Names []string
	// Text is the library's text about the fault.
	Text string
}

// Error says where the fault is, and what is wrong.
func (f *Fault) Error() string { return fmt.Sprintf("at %q: %s", strings.Join(f.Path, "."), f.What()) }

// What says what is wrong.
func (f *Fault) What() string {
	if words := comparisons[f.Rule]; words != "" {
		return fmt.Sprintf("%v %s %v", f.Got, words, f.Want)
	}
	return cmp.Or(f.Text, fmt.Sprintf("%v breaks the rule %s: %v", f.Got, f.Rule, f.Want))
}

// comparisons are the rules about which the library writes numbers as no user does: 5/1 is less than 10.000000.
var comparisons = map[string]string{"minimum": "is less than", "maximum": "is more than",
	"exclusiveMinimum": "is not more than", "exclusiveMaximum": "is not less than", "multipleOf": "is no multiple of"}

// Faults returns the faults of a JSON value, in the order of its keys.
func (s *Schema) Faults(text []byte) ([]Fault, error) {
	v, err := decode(text)
	if err != nil {
		return nil, err
	}
	f := &finder{Schema: s}
	f.visit("", nil, plain(v))
	return f.faults, nil
}

// plain returns a value with numbers that the library compares exactly, where Go has such.
func plain(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for key, next := range x {
			x[key] = plain(next)
		}
	case []any:
		for i, next := range x {
			x[i] = plain(next)
		}
	case json.Number:
		return number(x.String())
	}
	return v
}

func number(text string) any {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return u
	}
	x, _ := strconv.ParseFloat(text, 64) // an error is an infinite result
	return max(-math.MaxFloat64, min(x, math.MaxFloat64))
}

// finder finds the faults of a value. Pointers are places in the schema, paths are places in the value.
type finder struct {
	*Schema
	faults []Fault
}

// visit adds the faults of a value for the schema at a pointer: of the rules that stand alone, or of those inside;
// or one fault for all where neither is found.
func (f *finder) visit(pointer string, path []string, v any) {
	err := f.refused(pointer, v)
	object, _ := lookup(f.doc, pointer).(map[string]any)
	if err == nil {
		f.formats(pointer, object, path, v)
		return
	}
	before := len(f.faults)
	f.rules(object, path, v)
	if len(f.faults) == before || !f.ends(f.faults[len(f.faults)-1]) {
		f.inside(pointer, object, path, v)
	}
	if len(f.faults) == before {
		f.add(Fault{Path: path, Got: v, Text: words(err)})
	}
}

// ends reports whether a fault makes others senseless.
func (f *finder) ends(last Fault) bool {
	return slices.Contains([]string{"type", "enum", "const"}, last.Rule)
}

func (f *finder) add(fault Fault) {
	fault.Path = slices.Clone(fault.Path)
	f.faults = append(f.faults, fault)
}

// refused returns the library's error, or nil where it cannot check.
func (f *finder) refused(pointer string, v any) error {
	part := f.part(pointer)
	if part == nil {
		return nil
	}
	return part.Validate(v)
}

// words returns the last part of the library's error, which says what is wrong.
func words(err error) string {
	text := err.Error()
	for {
		_, rest, ok := strings.Cut(text, ": ")
		if !ok || !strings.HasPrefix(text, "validating ") {
			return text
		}
		text = rest
	}
}

// alone are the rules that say all themselves. Of the first three, only one is reported.
var alone = []string{"type", "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
	"exclusiveMaximum", "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties",
	"maxProperties", "required", "dependentRequired"}

// rules adds the faults of rules that stand alone.
func (f *finder) rules(schema map[string]any, path []string, v any) {
	if _, ref := schema["$ref"]; ref && f.draft == draft7 {
		return // draft 7 ignores the keywords beside it
	}
	for _, rule := range alone {
		want, ok := schema[rule]
		if !ok {
			continue
		}
		if err := broken(rule, want, v); err != nil {
			f.add(Fault{Path: path, Rule: rule, Want: want, Got: v, Names: missing(rule, want, v), Text: words(err)})
			if f.ends(f.faults[len(f.faults)-1]) {
				return
			}
		}
	}
}

// broken returns the library's error for a schema of one rule.
func broken(rule string, want, v any) error {
	s, _, err := parse(map[string]any{rule: want})
	if err != nil {
		return nil // the library has refused the whole schema then
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{BaseURI: place})
	if err != nil {
		return nil
	}
	return r.Validate(v)
}

func missing(rule string, want, v any) (names []string) {
	object, _ := v.(map[string]any)
	list, _ := want.([]any)
	for _, name := range list {
		if key, ok := name.(string); ok && rule == "required" {
			if _, there := object[key]; !there {
				names = append(names, key)
			}
		}
	}
	return names
}

// inside visits the schemas of a schema that apply to a value or to parts of it.
func (f *finder) inside(pointer string, schema map[string]any, path []string, v any) {
	if ref, ok := schema["$ref"].(string); ok {
		if to, ok := f.target(pointer, ref); ok {
			f.visit(to, path, v)
		}
		if f.draft == draft7 {
			return
		}
	}
	f.combined(pointer, schema, path, v)
	switch x := v.(type) {
	case map[string]any:
		f.properties(pointer, schema, path, x)
	case []any:
		f.items(pointer, schema, path, x)
	}
}

// combined visits the schemas for the same value. Of alternatives it says only that none fits.
func (f *finder) combined(pointer string, schema map[string]any, path []string, v any) {
	for i := range list(schema["allOf"]) {
		f.visit(pointer+"/allOf/"+strconv.Itoa(i), path, v)
	}
	for _, rule := range []string{"anyOf", "oneOf"} {
		fitting, most := 0, 1
		if rule == "anyOf" {
			most = math.MaxInt
		}
		for i := range list(schema[rule]) {
			if f.refused(pointer+"/"+rule+"/"+strconv.Itoa(i), v) == nil {
				fitting++
			}
		}
		if len(list(schema[rule])) > 0 && (fitting == 0 || fitting > most) {
			f.add(Fault{Path: path, Rule: rule, Want: schema[rule], Got: v})
		}
	}
	if _, ok := schema["if"]; !ok {
		return
	}
	branch := "then"
	if f.refused(pointer+"/if", v) != nil {
		branch = "else"
	}
	if _, ok := schema[branch]; ok {
		f.visit(pointer+"/"+branch, path, v)
	}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// properties visits the schemas of a map's values.
func (f *finder) properties(pointer string, schema map[string]any, path []string, v map[string]any) {
	var strangers []string
	for _, key := range slices.Sorted(maps.Keys(v)) {
		rules := propertyRules(schema, key)
		for _, rule := range rules {
			f.visit(pointer+rule, append(path, key), v[key])
		}
		if len(rules) > 0 {
			continue
		}
		switch more := schema["additionalProperties"].(type) {
		case bool:
			if !more {
				strangers = append(strangers, key)
			}
		case map[string]any:
			f.visit(pointer+"/additionalProperties", append(path, key), v[key])
		}
	}
	if len(strangers) > 0 {
		f.add(Fault{Path: path, Rule: "additionalProperties", Want: false, Got: v, Names: strangers})
	}
	dependent, _ := schema["dependentSchemas"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(dependent)) {
		if _, ok := v[key]; ok {
			f.visit(pointer+"/dependentSchemas/"+escape(key), path, v)
		}
	}
}

// propertyRules returns the pointers to the schemas for a key.
func propertyRules(schema map[string]any, key string) (rules []string) {
	known, _ := schema["properties"].(map[string]any)
	if _, ok := known[key]; ok {
		rules = append(rules, "/properties/"+escape(key))
	}
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if ok, err := regexp.MatchString(pattern, key); ok && err == nil {
			rules = append(rules, "/patternProperties/"+escape(pattern))
		}
	}
	return rules
}

// items visits the schemas of a list's values: the first ones may have one each.
func (f *finder) items(pointer string, schema map[string]any, path []string, v []any) {
	firsts, rest := "prefixItems", "items"
	if _, ok := schema["items"].([]any); ok {
		firsts, rest = "items", "additionalItems"
	}
	own := list(schema[firsts])
	for i, item := range v {
		at := append(path, strconv.Itoa(i))
		if i < len(own) {
			f.visit(pointer+"/"+firsts+"/"+strconv.Itoa(i), at, item)
		} else if _, ok := schema[rest]; ok {
			f.visit(pointer+"/"+rest, at, item)
		}
	}
}
