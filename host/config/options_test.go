package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestCheckOptions(t *testing.T) {
	for options, want := range map[string]string{
		`max: 27`: "",
		`max: 0`: `x.yaml:1:32: option "max" of asha: found the number 0, expected a whole ` +
			`number from 1`,
		`max: many`: `x.yaml:1:32: option "max" of asha: found the text "many", expected a ` +
			`whole number from 1`,
		`max: 3, steps: [1, 2147483648]`: `x.yaml:1:46: option "steps.1" of asha: found the number 2147483648, ` +
			`expected a whole number at most 2147483647`,
		`max: 3, log: 7`: `x.yaml:1:40: option "log" of asha: found the number 7, expected true or ` +
			`false or a text`,
		`max: 3, most: 9007199254740993`: `x.yaml:1:41: option "most" of asha: found the number 9007199254740993, ` +
			`expected at most 9007199254740992`,
		`mxa: 3`: `x.yaml:1:21: options of asha: max missing|x.yaml:1:27: unknown option ` +
			`"mxa" of asha; did you mean "max"?`,
		`max: 3, mode: stp`: `x.yaml:1:41: option "mode" of asha: found the text "stp", expected stop ` +
			`or promote; did you mean "stop"?`,
		`max: 3, eta: 1, deep: {iner: 3}`: `x.yaml:1:40: option "eta" of asha: found the number 1, expected a number ` +
			`above 1|x.yaml:1:50: unknown option "iner" of asha; did you mean "inner"?`,
	} {
		e := parse(t, "scheduler: {plugin: asha, "+options+"}")
		var got []string
		for _, err := range CheckOptions(e.Scheduler, []byte(asha)) {
			got = append(got, err.Error())
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s:\n got %s\nwant %s", options, strings.Join(got, "|"), want)
		}
	}
	e := parse(t, "scheduler: {plugin: pbt, factors: [], small: {label: 1}, sum: 3, name: abc}")
	var got []string
	for _, err := range CheckOptions(e.Scheduler, []byte(composed)) {
		got = append(got, err.Error())
	}
	if want := `x.yaml:1:35: option "factors" of pbt: found an empty list, expected a list that is not empty, ` +
		`each item a number|x.yaml:1:47: option "small" of pbt: found a map, expected each key to be a text of at ` +
		`most 1 character, not "label"|x.yaml:1:63: option "sum" of pbt: found the number 3, expected at least 5|` +
		`x.yaml:1:72: option "name" of pbt: found the text "abc", expected a text of at most 2 ` +
		`characters`; strings.Join(got, "|") != want {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "|"), want)
	}
	if errs := CheckOptions(PluginRef{Name: "p", Options: []byte("{}")}, []byte("{")); len(errs) != 1 {
		t.Errorf("a broken schema: %v", errs)
	}
}

// Lists and texts of a wrong length are told in the words of the file.
func TestLengthsOfOptions(t *testing.T) {
	const schema = `{"type": "object", "properties": {
		"list": {"type": "array", "minItems": 1, "items": {"type": "number"}},
		"few": {"type": "array", "minItems": 2, "maxItems": 3}, "any": {"maxItems": 1},
		"name": {"type": "string", "minLength": 2, "maxLength": 3}}}`
	for options, want := range map[string]string{
		`list: []`: `option "list" of asha: found an empty list, expected a list that is not empty, each item a ` +
			`number`,
		`few: [1]`:       `option "few" of asha: found a list, expected a list of 2 to 3`,
		`few: [1,2,3,4]`: `option "few" of asha: found a list, expected a list of 2 to 3`,
		`any: [1, 2]`:    `option "any" of asha: found a list, expected a list of at most 1 item`,
		`name: a`:        `option "name" of asha: found the text "a", expected a text of at least 2 characters`,
		`name: abcd`: `option "name" of asha: found the text "abcd", expected a text of at most 3 ` +
			`characters`,
		`list: [1], few: [1, 2]`: "",
	} {
		errs := CheckOptions(parse(t, "scheduler: {plugin: asha, "+options+"}").Scheduler, []byte(schema))
		got := fmt.Sprint(errors.Join(errs...))
		if (want == "") != (len(errs) == 0) || !strings.HasSuffix(got, want) && want != "" {
			t.Errorf("%s: %s, want %q", options, got, want)
		}
	}
}

// A default that the schema forbids is told unless the option is set: only the plugin's author can mend it.
func TestWrongDefaults(t *testing.T) {
	const schema = `{"type": "object", "additionalProperties": false, "required": ["max"], "properties": {
		"max": {"type": "integer", "default": "none"}, "low": {"type": "integer", "minimum": 10, "default": 5},
		"none": {"type": "string", "default": null}, "good": {"type": "integer", "default": 5}, "free": true,
		"kind": {"enum": ["a", "b"], "default": "c"}}}`
	low := `plugin asha: the default of option "low" is 5, which its own schema forbids (found 5, expected at least ` +
		"10): set the option"
	for options, want := range map[string][]string{
		`max: 1, kind: a`:          {low},
		`max: 1, kind: a, low: 11`: nil,
		`max: 1, low: 11`:          {`plugin asha: the default of option "kind" is "c", which its own schema `},
	} {
		got := WrongDefaults(parse(t, "scheduler: {plugin: asha, "+options+"}").Scheduler, []byte(schema))
		if len(got) != len(want) || len(got) > 0 && !strings.HasPrefix(got[0], want[0]) {
			t.Errorf("%s: %q, want %q", options, got, want)
		}
	}
	if got := WrongDefaults(PluginRef{Name: "p", Options: []byte("{}")}, []byte("{")); got != nil {
		t.Error(got)
	}
}

func TestSchemaWith(t *testing.T) {
	schema, err := compileSchema(SchemaWith([]sdk.Info{
		{Kind: sdk.KindScheduler, Name: "asha", Summary: "Stops the worst.", Options: []byte(asha)},
		{Kind: sdk.KindTrainable, Name: "chaos", Options: []byte(`{"type": "object", "additionalProperties": false, ` +
			`"properties": {"crash": {"type": "number"}}}`)},
		{Kind: sdk.KindReporter, Name: "broken", Options: []byte(`{`)},
	}))
	if err != nil {
		t.Fatal(err)
	}
	trainable := func(text string) string { return strings.Replace(base, "{command: [python3, train.py]}", text, 1) }
	for text, refused := range map[string]bool{
		"scheduler: {plugin: asha, max: 3}" + base:                    false,
		"scheduler: {plugin: asha, mxa: 3}" + base:                    true,
		"scheduler: {plugin: other, mxa: 3}" + base:                   false,
		trainable("{plugin: chaos, options: {crash: 0.5}}"):           false,
		trainable("{plugin: chaos, options: {crush: 0.5}}"):           true,
		trainable("{plugin: chaos}") + "reporters: [{plugin: jsonl}]": false,
	} {
		if schemaRefuses(schema, text) != refused {
			t.Errorf("%s: refused %v", text, !refused)
		}
	}
}
