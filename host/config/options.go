package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	wrong "github.com/santhosh-tekuri/jsonschema/v6/kind"

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

// CheckOptions checks the options of a plugin against its JSON Schema (draft 2020-12). Each mistake is
// an [Error] at its place; a broken schema is reported as the plugin's mistake.
func CheckOptions(ref PluginRef, schema []byte) []error {
	compiled, err := compileSchema(schema)
	if err != nil {
		return []error{&Error{ref.Pos, oneLine(fmt.Sprintf("plugin %s: its options schema is invalid: %v", ref.Name,
			err))}}
	}
	options, err := jsonschema.UnmarshalJSON(bytes.NewReader(ref.Options))
	if err != nil {
		return []error{&Error{ref.Pos, oneLine(fmt.Sprintf("plugin %s: options: %v", ref.Name, err))}}
	}
	invalid, ok := compiled.Validate(options).(*jsonschema.ValidationError)
	if !ok {
		return nil
	}
	p := &problems{}
	o := &optionErrors{p, ref, schema}
	o.add(invalid)
	var out []error
	for _, e := range asErrors(p.err()) {
		out = append(out, e)
	}
	return out
}

func asErrors(err error) Errors {
	list, _ := err.(Errors)
	return list
}

func compileSchema(schema []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a plugin's schema loads nothing
	if err := c.AddResource("mem:///options.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///options.json")
}

type optionErrors struct {
	*problems
	ref    PluginRef
	schema []byte
}

// add reports the innermost causes of e; for alternatives it reports that none fits.
func (o *optionErrors) add(e *jsonschema.ValidationError) {
	switch e.ErrorKind.(type) {
	case *wrong.OneOf, *wrong.AnyOf:
	default:
		if len(e.Causes) > 0 {
			for _, cause := range e.Causes {
				o.add(cause)
			}
			return
		}
	}
	o.one(e)
}

func (o *optionErrors) one(e *jsonschema.ValidationError) {
	path := e.InstanceLocation
	option := "options of " + o.ref.Name
	if len(path) > 0 {
		option = "option " + quote(strings.Join(path, ".")) + " of " + o.ref.Name
	}
	at := o.ref.PosOf(path...)
	found := "found this value"
	if n := o.find(path); n != nil {
		found = "found " + n.describe()
	}
	switch k := e.ErrorKind.(type) {
	case *wrong.AdditionalProperties:
		for _, name := range k.Properties {
			o.unknown(path, name)
		}
	case *wrong.Type:
		o.fail(at, "%s: %s, expected %s", option, found, o.words(path, strings.Join(typeWords(k.Want), " or ")))
	case *wrong.Enum:
		words := enumWords(k.Want)
		o.fail(at, "%s: %s, expected %s%s", option, found, list(words, 12), nearest.Hint(fmt.Sprint(k.Got), words))
	case *wrong.Required:
		o.fail(at, "%s: %s missing", option, strings.Join(k.Missing, ", "))
	case *wrong.Maximum:
		// Messages omit bounds that only computers have.
		if want, _ := k.Want.Float64(); want >= options.MaxInt {
			o.fail(at, "%s: %s, expected at most %s", option, found, k.Want.RatString())
			return
		}
		o.fail(at, "%s: %s, expected %s", option, found, o.words(path, "less"))
	case *wrong.Minimum, *wrong.ExclusiveMinimum:
		o.fail(at, "%s: %s, expected %s", option, found, o.words(path, "more"))
	case *wrong.ExclusiveMaximum:
		o.fail(at, "%s: %s, expected %s", option, found, o.words(path, "less"))
	case *wrong.OneOf, *wrong.AnyOf:
		o.fail(at, "%s: %s, expected %s", option, found, o.words(path, "one of the forms that it may have"))
	default:
		o.fail(at, "%s: %s: %s", option, found, e.ErrorKind.LocalizedString(printer))
	}
}

// words says what the schema allows at a path; otherwise is the text for schemas that are too complex
// for that.
func (o *optionErrors) words(path []string, otherwise string) string {
	at := schemaAt(o.schema, path)
	if at == nil {
		return otherwise
	}
	text, err := json.Marshal(at)
	if words := options.Words(text); err == nil && words != "anything" {
		return words
	}
	return otherwise
}

// schemaAt returns the schema of the value at a path of keys and indices, or nil where a simple walk
// does not find it.
func schemaAt(schema []byte, path []string) map[string]any {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil
	}
	at, _ := doc.(map[string]any)
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

// typeWords names JSON types in the words of the experiment file.
func typeWords(types []string) []string {
	words := map[string]string{"array": "a list", "object": "a map", "string": "a text", "number": "a number",
		"integer": "a whole number", "boolean": "true or false", "null": "nothing"}
	out := slices.Clone(types)
	for i, t := range out {
		out[i] = cmp.Or(words[t], t)
	}
	return out
}

func enumWords(values []any) []string {
	var words []string
	for _, v := range values {
		words = append(words, fmt.Sprint(v))
	}
	return words
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
