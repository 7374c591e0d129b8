package fit

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// Fault is a place at which a value breaks a rule of its schema.
type Fault struct {
	// Path are the keys and indices that lead to the place.
	Path []string
	// Rule is the keyword of the rule; "" where the library alone knows it.
	Rule string
	// Want is the keyword's value, Got the value that breaks it.
	Want, Got any
	// Names are the keys that are missing (rule required), or that may not be there (rules additionalProperties and
	// propertyNames).
	Names []string
	// Several says for the rule oneOf that more than one of the alternatives fit.
	Several bool

	inner *Fault // of a key (rule propertyNames)
}

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
	here := lookup(f.doc, pointer)
	object, _ := here.(map[string]any)
	if f.refused(pointer, v) == nil {
		f.formats(pointer, object, path, v)
		return
	}
	before := len(f.faults)
	f.rules(object, path, v)
	if len(f.faults) == before || !f.ends(f.faults[len(f.faults)-1]) {
		f.inside(pointer, object, path, v)
	}
	if len(f.faults) == before {
		f.add(Fault{Path: path, Rule: otherRule(here, v), Got: v})
	}
}

// otherRule names the rule that a value breaks for which no other was found: "" if it is not known.
func otherRule(schema, v any) string {
	if schema == false {
		return ruleFalse
	}
	object, _ := schema.(map[string]any)
	of := "unevaluatedProperties"
	if _, isList := v.([]any); isList {
		of = "unevaluatedItems"
	}
	if _, ok := object[of]; ok {
		return of
	}
	return ""
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
		if broken(rule, want, v) {
			f.add(Fault{Path: path, Rule: rule, Want: want, Got: v, Names: missing(rule, want, v)})
			if f.ends(f.faults[len(f.faults)-1]) {
				return
			}
		}
	}
}

// broken reports whether the library refuses a value for a schema of one rule.
func broken(rule string, want, v any) bool {
	s, _, err := parse(map[string]any{rule: want})
	if err != nil {
		return false // the library has refused the whole schema then
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{BaseURI: place})
	return err == nil && r.Validate(v) != nil
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
	f.alternatives(pointer, schema, path, v)
	if not, ok := schema["not"]; ok && f.fits(pointer+"/not", v) {
		f.add(Fault{Path: path, Rule: "not", Want: not, Got: v})
	}
	f.conditional(pointer, schema, path, v)
}

// fits reports whether the library says that a value fits a schema.
func (f *finder) fits(pointer string, v any) bool {
	part := f.part(pointer)
	return part != nil && part.Validate(v) == nil
}

func (f *finder) alternatives(pointer string, schema map[string]any, path []string, v any) {
	for _, rule := range []string{"anyOf", "oneOf"} {
		fitting, all := 0, list(schema[rule])
		for i := range all {
			if f.refused(pointer+"/"+rule+"/"+strconv.Itoa(i), v) == nil {
				fitting++
			}
		}
		several := fitting > 1 && rule == "oneOf"
		if len(all) > 0 && (fitting == 0 || several) {
			f.add(Fault{Path: path, Rule: rule, Want: schema[rule], Got: v, Several: several})
		}
	}
}

func (f *finder) conditional(pointer string, schema map[string]any, path []string, v any) {
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
	f.names(pointer, schema, path, v)
	f.dependent(pointer, schema, path, v)
}

// names adds the first key that does not fit.
func (f *finder) names(pointer string, schema map[string]any, path []string, v map[string]any) {
	if _, ok := schema["propertyNames"]; !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		of := &finder{Schema: f.Schema}
		of.visit(pointer+"/propertyNames", nil, key)
		if len(of.faults) > 0 {
			f.add(Fault{Path: path, Rule: "propertyNames", Want: schema["propertyNames"], Got: v, Names: []string{key},
				inner: &of.faults[0]})
			return
		}
	}
}

// dependent visits the schemas that apply if a key is there. In draft 7, dependencies has these and dependentRequired.
func (f *finder) dependent(pointer string, schema map[string]any, path []string, v map[string]any) {
	for _, rule := range []string{"dependentSchemas", "dependencies"} {
		of, _ := schema[rule].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if _, ok := v[key]; !ok {
				continue
			}
			if names, ok := of[key].([]any); ok && len(missing("required", names, v)) > 0 {
				f.add(Fault{Path: path, Rule: "dependentRequired", Want: of, Got: v})
				return
			} else if !ok {
				f.visit(pointer+"/"+rule+"/"+escape(key), path, v)
			}
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
	f.contained(pointer, schema, path, v)
}

// contained adds a fault if too few or too many items of a list are of the kind that it contains.
func (f *finder) contained(pointer string, schema map[string]any, path []string, v []any) {
	if _, ok := schema["contains"]; !ok {
		return
	}
	fitting := 0
	for _, item := range v {
		if f.fits(pointer+"/contains", item) {
			fitting++
		}
	}
	for rule, otherwise := range map[string]json.Number{"minContains": "1", "maxContains": ""} {
		want, ok := schema[rule].(json.Number)
		if !ok {
			want = otherwise
		}
		n, err := want.Float64()
		few, many := rule == "minContains" && float64(fitting) < n, rule == "maxContains" && float64(fitting) > n
		if err == nil && (few || many) {
			f.add(Fault{Path: path, Rule: rule, Want: want, Got: v})
		}
	}
}
