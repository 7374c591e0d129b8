package schedtest

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Problem is a small one: one loss to be made small and a planned number of
// trials.
func Problem(trials int) sdk.Problem {
	return sdk.Problem{
		Space:      &space.Space{},
		Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}},
		Seed:       1,
		Trials:     trials,
	}
}

// Plugin checks what the plugin says of itself: its name, and that its options
// are a closed schema in which each has a description and a default, and that
// it opens with none and with all defaults written out.
func Plugin(t *testing.T, plugin sdk.SchedulerPlugin) {
	t.Helper()
	if plugin.Kind != sdk.KindScheduler || plugin.Version == "" || plugin.Summary == "" {
		t.Errorf("incomplete: %+v", plugin.Info)
	}
	if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(plugin.Name) {
		t.Errorf("name %q: want lower case, digits and dashes", plugin.Name)
	}
	compile(t, plugin.Options)
	for _, options := range [][]byte{nil, []byte(`{}`), defaults(t, plugin.Options)} {
		if _, _, err := plugin.Open(Problem(10), options); err != nil {
			t.Errorf("options %s: %v", options, err)
		}
	}
	if _, _, err := plugin.Open(Problem(10), []byte(`{"no such option": 1}`)); err == nil {
		t.Error("an unknown option is accepted")
	}
}

func compile(t *testing.T, schema []byte) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatalf("schema: %v", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("options.json", doc); err != nil {
		t.Fatalf("schema: %v", err)
	}
	compiled, err := c.Compile("options.json")
	if err != nil {
		t.Fatalf("schema: %v", err)
	}
	written, err := jsonschema.UnmarshalJSON(strings.NewReader(string(defaults(t, schema))))
	if err != nil {
		t.Fatalf("defaults: %v", err)
	}
	if err := compiled.Validate(written); err != nil {
		t.Errorf("the defaults do not conform to the schema: %v", err)
	}
}

func defaults(t *testing.T, schema []byte) []byte {
	var s struct {
		Additional *bool `json:"additionalProperties"`
		Properties map[string]struct {
			Description string
			Default     json.RawMessage
		}
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatalf("schema: %v", err)
	}
	if s.Additional == nil || *s.Additional {
		t.Error("schema: additionalProperties is not false")
	}
	all := map[string]json.RawMessage{}
	for name, p := range s.Properties {
		if p.Description == "" || p.Default == nil {
			t.Errorf("option %s has no description or no default", name)
		}
		all[name] = p.Default
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatalf("defaults: %v", err)
	}
	return text
}
