package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// schema returns the schema of one key: the form, with its description and default.
func (k key) schema() map[string]any {
	out := k.shape.schema()
	out["description"] = k.what
	if k.value != "" {
		out["default"] = json.RawMessage(k.value)
	}
	return out
}

// Schema returns the JSON Schema (draft 2020-12) of experiment files. [Parse] refuses all that it
// refuses, and more: values that contradict each other.
func Schema() []byte { return SchemaWith(nil) }

// SchemaWith is Schema with the options of these plugins. The options of other plugins may be
// anything.
func SchemaWith(infos []sdk.Info) []byte {
	root := experiment.schema()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "tunehost experiment"
	root["$defs"] = map[string]any{"parameter": parameterSchema()}
	root["oneOf"] = []any{map[string]any{"required": []any{"objective"}},
		map[string]any{"required": []any{"objectives"}}}
	root["not"] = map[string]any{"required": []any{"resources", "placement"}}
	properties := root["properties"].(map[string]any)
	for key, kind := range map[string]sdk.Kind{"searcher": sdk.KindSearcher, "scheduler": sdk.KindScheduler,
		"executor": sdk.KindExecutor} {
		addOptions(properties[key].(map[string]any), infos, kind)
	}
	reporters := properties["reporters"].(map[string]any)
	addOptions(reporters["items"].(map[string]any), infos, sdk.KindReporter)
	addTrainables(properties["trainable"].(map[string]any), infos)
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("config: the schema cannot be written: %v", err)) // an option schema was checked to be JSON
	}
	return append(out, '\n')
}

// optionsOf returns a plugin's options schema, or nil where it is not a JSON object.
func optionsOf(info sdk.Info) map[string]any {
	var options map[string]any
	if json.Unmarshal(info.Options, &options) != nil {
		return nil
	}
	delete(options, "$schema")
	delete(options, "$id")
	return options
}

// addOptions adds the option schema of each plugin, for maps that name the plugin.
func addOptions(ref map[string]any, infos []sdk.Info, kind sdk.Kind) {
	var rules []any
	for _, info := range infos {
		options := optionsOf(info)
		if info.Kind != kind || options == nil {
			continue
		}
		properties, _ := options["properties"].(map[string]any)
		if properties == nil {
			properties = map[string]any{}
		}
		properties["plugin"] = true
		if kind == sdk.KindExecutor {
			for _, k := range hostKeys {
				properties[k.name] = true
			}
		}
		options["properties"] = properties
		if summary := info.Summary; summary != "" {
			options["description"] = summary
		}
		rules = append(rules, ifPlugin(info.Name, options))
	}
	if len(rules) > 0 {
		ref["allOf"] = rules
	}
}

func ifPlugin(name string, then map[string]any) map[string]any {
	return map[string]any{
		"if": map[string]any{"type": "object", "required": []any{"plugin"},
			"properties": map[string]any{"plugin": map[string]any{"const": name}}},
		"then": then,
	}
}

func addTrainables(trainable map[string]any, infos []sdk.Info) {
	trainable["oneOf"] = []any{
		map[string]any{"required": []any{"command"}}, map[string]any{"required": []any{"plugin"}},
	}
	var rules []any
	for _, info := range infos {
		if options := optionsOf(info); info.Kind == sdk.KindTrainable && options != nil {
			rules = append(rules, ifPlugin(info.Name, map[string]any{"properties": map[string]any{"options": options}}))
		}
	}
	if len(rules) > 0 {
		trainable["allOf"] = rules
	}
}

// spaceShape is the map of parameters; the builder checks its contents.
var spaceShape = &special{
	test: func(p *problems, n *node) {
		if n.kind != mapKind {
			p.fail(n.pos, "found %s, expected a map such as {lr: {loguniform: [1e-4, 1]}, units: {int: [8, 128]}}",
				n.describe())
		}
	},
	json: func() map[string]any {
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"$ref": "#/$defs/parameter"}}
	},
}

// parameterSchema describes an entry of the space: a map with a form is a parameter, any other map a
// group, anything else a constant.
func parameterSchema() map[string]any {
	rules := []any{}
	for _, form := range forms {
		if form == "value" {
			continue // beside other keys it names a parameter
		}
		has := map[string]any{"type": "object", "required": []any{form},
			"properties": map[string]any{form: map[string]any{"type": formType(form)}}}
		rules = append(rules, map[string]any{"if": has, "then": formSchema(form)})
	}
	return map[string]any{"not": map[string]any{"type": "array"}, "allOf": rules}
}

func formType(form string) string {
	if form == "sample" {
		return "string"
	}
	return "array"
}

func formSchema(form string) map[string]any {
	properties := map[string]any{form: formValue(form)}
	for _, name := range modifiers[form] {
		switch name {
		case "step":
			properties[name] = positive.schema()
		case "log", "open":
			properties[name] = boolean.schema()
		case "when":
			properties[name] = condition.schema()
		case "was":
			properties[name] = map[string]any{"description": "the value that trials had before this parameter, for " +
				"learn_from"}
		}
	}
	if form == "loguniform" {
		properties["log"] = map[string]any{"const": true}
	}
	return map[string]any{"properties": properties, "additionalProperties": false}
}

func formValue(form string) map[string]any {
	number := map[string]any{"type": "number"}
	switch form {
	case "choice", "ordinal", "grid":
		return map[string]any{"type": "array", "minItems": 1}
	case "sample":
		return text.schema()
	case "loguniform":
		number = positive.schema()
	case "int":
		number = map[string]any{"type": "integer"}
	}
	return map[string]any{"type": "array", "items": number, "minItems": 2, "maxItems": 2}
}

// Reference returns the table of keys as Markdown.
func Reference() string {
	var b strings.Builder
	b.WriteString("| key | value | default |\n|---|---|---|\n")
	for _, k := range experiment.keys {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.name, k.what, codeOrNone(k.value))
	}
	return b.String()
}

func codeOrNone(value string) string {
	if value == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(value, "|", `\|`) + "`"
}
