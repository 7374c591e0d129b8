package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/config/fit"
	"github.com/tunehost/tunehost/host/nearest"
	options "github.com/tunehost/tunehost/plugins/sdk/option"
)

// PluginRef names a plugin and its options.
type PluginRef struct {
	// Name is the plugin's name, or a path to it ([PluginRef.IsPath]).
	Name string
	// Options is a JSON object; {} where none were given.
	Options []byte
	// Pos is where the plugin is named.
	Pos Pos

	node *node // the options
}

// IsPath reports whether the plugin is given by path.
func (r PluginRef) IsPath() bool {
	return strings.ContainsAny(r.Name, `/\`) || strings.HasPrefix(r.Name, ".")
}

// PosOf returns the place of an option, by the keys and indices that lead to it, or of the nearest
// enclosing value that the file has.
func (r PluginRef) PosOf(path ...string) Pos {
	at, pos := r.node, r.Pos
	for _, step := range path {
		if at == nil {
			break
		}
		next := at.get(step)
		if i, err := strconv.Atoi(step); err == nil && at.kind == listKind && i >= 0 && i < len(at.items) {
			next = at.items[i]
		}
		if next != nil {
			pos = next.pos
		}
		at = next
	}
	return pos
}

// keyPos returns the place of a key that should not be there.
func (r PluginRef) keyPos(path []string, name string) Pos {
	at := r.node
	for _, step := range path {
		next := at.get(step)
		if i, err := strconv.Atoi(step); err == nil && next == nil && at != nil && i < len(at.items) {
			next = at.items[i]
		}
		at = next
	}
	if at == nil {
		return r.Pos
	}
	return placeOf(at, name, r.Pos)
}

func newPluginRef(name string, at Pos, options *node) PluginRef {
	if options == nil {
		options = &node{kind: mapKind, pos: at}
	}
	return PluginRef{Name: name, Options: options.json(), Pos: at, node: options}
}

// refOf reads NAME or {plugin: NAME, OPTION: …}.
func refOf(n *node) PluginRef {
	if n.kind != mapKind {
		return newPluginRef(n.text, n.pos, nil)
	}
	options := &node{kind: mapKind, pos: n.pos}
	for _, e := range n.keys {
		if e.name != "plugin" {
			options.keys = append(options.keys, e)
		}
	}
	return newPluginRef(n.get("plugin").text, n.get("plugin").pos, options)
}

// RefWith names a plugin with options that do not come from a file; place is where they come from, for messages.
func RefWith(name, place string, options []byte) PluginRef {
	at := Pos{File: place}
	n := readYAML(&problems{}, place, options)
	if n == nil {
		return PluginRef{Name: name, Options: options, Pos: at}
	}
	return PluginRef{Name: name, Options: options, Pos: at, node: moved(n, at)}
}

// CheckOptions checks the options of a plugin against its JSON Schema (draft 2020-12 or 7). Each mistake is
// an [Error] at its place; a broken schema is reported as the plugin's mistake.
func CheckOptions(ref PluginRef, schema []byte) []error {
	compiled, err := fit.Compile(schema)
	if err != nil {
		return []error{&Error{ref.Pos, oneLine(fmt.Sprintf("plugin %s: its options schema is invalid: %v", ref.Name,
			err))}}
	}
	faults, err := compiled.Faults(ref.Options)
	if err != nil {
		return []error{&Error{ref.Pos, oneLine(fmt.Sprintf("plugin %s: options: %v", ref.Name, err))}}
	}
	p := &problems{}
	o := &optionErrors{p, ref, schema}
	for i := range faults {
		o.one(&faults[i])
	}
	var out []error
	for _, e := range asErrors(p.err()) {
		out = append(out, e)
	}
	return out
}

// WrongDefaults says which options, that are not given, have a default that the plugin's own schema forbids. The plugin
// uses it nevertheless. A default that is null stands for none.
func WrongDefaults(ref PluginRef, schema []byte) (doubts []string) {
	var of struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	var given map[string]json.RawMessage
	compiled, err := fit.Compile(schema)
	if err != nil || json.Unmarshal(schema, &of) != nil || json.Unmarshal(ref.Options, &given) != nil {
		return nil // CheckOptions says so
	}
	for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
		var option struct {
			Default json.RawMessage `json:"default"`
		}
		_ = json.Unmarshal(of.Properties[name], &option) // a schema may be true
		if value := string(option.Default); value != "" && value != "null" && given[name] == nil &&
			!slices.Contains(of.Required, name) {
			if why := refuses(compiled, name, option.Default); why != "" {
				doubts = append(doubts, oneLine(fmt.Sprintf("plugin %s: the default of option %s is %s, which its own "+
					"schema forbids (%s): set the option", ref.Name, quote(name), value, why)))
			}
		}
	}
	return doubts
}

// CheckSchema is an error if a text is no JSON schema for the options of a plugin.
func CheckSchema(schema []byte) error {
	_, err := fit.Compile(schema)
	return err
}

// refuses says why a schema of options forbids the value of one; "" if it does not.
func refuses(schema *fit.Schema, name string, value json.RawMessage) string {
	text, err := json.Marshal(map[string]json.RawMessage{name: value})
	if err != nil {
		return ""
	}
	faults, _ := schema.Faults(text)
	for i := range faults {
		if len(faults[i].Path) > 0 { // else it is about the others, which are missing here
			return faults[i].What()
		}
	}
	return ""
}

func asErrors(err error) Errors {
	list, _ := err.(Errors)
	return list
}

type optionErrors struct {
	*problems
	ref    PluginRef
	schema []byte
}

// one reports a fault.
func (o *optionErrors) one(f *fit.Fault) {
	at := o.ref.PosOf(f.Path...)
	option := "options of " + o.ref.Name
	if len(f.Path) > 0 {
		option = "option " + quote(strings.Join(f.Path, ".")) + " of " + o.ref.Name
	}
	found := "found this value"
	if n := o.find(f.Path); n != nil {
		found = "found " + n.describe()
		if n.kind == listKind && len(n.items) == 0 {
			found = "found an empty list"
		}
	}
	switch f.Rule {
	case "additionalProperties":
		for _, name := range f.Names {
			o.unknown(f.Path, name)
		}
	case "required":
		o.fail(at, "%s: %s missing", option, strings.Join(f.Names, ", "))
	case "propertyNames":
		o.fail(o.ref.keyPos(f.Path, f.Names[0]), "%s: %s, expected %s", option, found, f.Expected())
	default:
		o.fail(at, "%s: %s, expected %s", option, found, o.wanted(f))
	}
}

// wanted says what was expected instead: all that the schema allows there, where there are words for that.
func (o *optionErrors) wanted(f *fit.Fault) string {
	switch f.Rule {
	case "enum":
		words := f.Choices()
		return list(words, 12) + nearest.Hint(fmt.Sprint(f.Got), words)
	case "maximum":
		// The words of a schema omit bounds that only computers have.
		if want, err := f.Want.(json.Number).Float64(); err == nil && want >= options.MaxInt {
			return f.Expected()
		}
		return o.words(f)
	case "type", "minimum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems":
		return o.words(f)
	case "oneOf":
		if !f.Several {
			return o.words(f)
		}
	}
	return f.Expected()
}

// words says what the schema allows at the place of a fault, or what its rule expects where the schema is too complex
// for that.
func (o *optionErrors) words(f *fit.Fault) string {
	at := schemaAt(o.schema, f.Path)
	if _, there := at[f.Rule]; !there {
		return f.Expected()
	}
	text, err := json.Marshal(at)
	if words := options.Words(text); err == nil && words != "anything" {
		return words
	}
	return f.Expected()
}

// schemaAt returns the schema of the value at a path of keys and indices, or nil where a simple walk
// does not find it.
func schemaAt(schema []byte, path []string) map[string]any {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var at map[string]any
	if d.Decode(&at) != nil {
		return nil
	}
	for _, step := range path {
		properties, _ := at["properties"].(map[string]any)
		next, _ := properties[step].(map[string]any)
		for _, key := range []string{"items", "additionalProperties"} {
			if next == nil {
				next, _ = at[key].(map[string]any)
			}
		}
		at = next
	}
	return at
}

func (o *optionErrors) find(path []string) *node {
	at := o.ref.node
	for _, step := range path {
		i, err := strconv.Atoi(step)
		switch {
		case at == nil:
			return nil
		case at.kind == listKind && err == nil && i < len(at.items):
			at = at.items[i]
		default:
			at = at.get(step)
		}
	}
	return at
}

func (o *optionErrors) unknown(path []string, name string) {
	expected := ", which has none"
	if known := schemaKeys(o.schema, path); len(known) > 0 {
		expected = expectedOrNearest(name, known)
	}
	if instead := optionsElsewhere[name]; instead != "" && len(path) == 0 {
		expected = "; " + instead
	}
	o.fail(o.ref.keyPos(path, name), "unknown option %s of %s%s", quote(name), o.ref.Name, expected)
}

// optionsElsewhere are options of other tuners that are not options here.
var optionsElsewhere = map[string]string{
	"time_attr":      "iterations are what is counted: leave it out",
	"metric":         "it is the objective's: write objective: {metric: NAME, mode: min or max} at the top level",
	"mode":           "it is the objective's: write objective: {metric: NAME, mode: min or max} at the top level",
	"max_concurrent": "write concurrency: N at the top level",
	"seed":           "write seed: N at the top level",
	"random_state":   "write seed: N at the top level",
	"num_samples":    "write trials: N at the top level",
	"max_trials":     "write trials: N at the top level",
}

// schemaKeys returns the properties that a schema declares at a path of properties.
func schemaKeys(schema []byte, path []string) []string {
	properties, _ := schemaAt(schema, path)["properties"].(map[string]any)
	var names []string
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
