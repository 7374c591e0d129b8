package sdktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Open checks the plugin's Info and the options against its schema, as a host
// does before it opens a plugin, and opens it. options is a JSON object.
func Open(t testing.TB, p sdk.TrainablePlugin, options string) (sdk.Trainable, sdk.TrainableTraits) {
	t.Helper()
	if err := CheckInfo(p.Info, sdk.KindTrainable); err != nil {
		t.Fatal(err)
	}
	if err := CheckOptions(p.Info, []byte(options)); err != nil {
		t.Fatal(err)
	}
	trainable, traits, err := p.Open([]byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return trainable, traits
}

var pluginName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// CheckInfo says what is wrong with what a plugin says about itself: its kind,
// name, version and summary, and a schema of options that is not a closed
// object with a description and a fitting default for each.
func CheckInfo(info sdk.Info, kind sdk.Kind) error {
	switch {
	case info.Kind != kind:
		return fmt.Errorf("Info.Kind is %q, want %q", info.Kind, kind)
	case !pluginName.MatchString(info.Name):
		return fmt.Errorf("Info.Name is %q: want lower case letters, digits and dashes", info.Name)
	case info.Version == "":
		return errors.New("Info.Version is empty")
	case info.Summary == "":
		return errors.New("Info.Summary is empty")
	}
	if err := checkSchema(info); err != nil {
		return fmt.Errorf("Info.Options: %w", err)
	}
	return nil
}

// CheckOptions says how options (a JSON object) do not conform to the schema.
func CheckOptions(info sdk.Info, options []byte) error {
	schema, err := compile(info.Options)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(options))
	if err != nil {
		return fmt.Errorf("options of %s: %w", info.Name, err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("options of %s: %w", info.Name, err)
	}
	return nil
}

// Defaults returns the default of each option in the schema.
func Defaults(info sdk.Info) (map[string]any, error) {
	var schema struct {
		Properties map[string]map[string]any
	}
	if err := json.Unmarshal(info.Options, &schema); err != nil {
		return nil, err
	}
	defaults := map[string]any{}
	for name, property := range schema.Properties {
		if value, ok := property["default"]; ok {
			defaults[name] = value
		}
	}
	return defaults, nil
}

func checkSchema(info sdk.Info) error {
	var schema struct {
		Type                 string
		Properties           map[string]map[string]any
		AdditionalProperties *bool
	}
	if err := json.Unmarshal(info.Options, &schema); err != nil {
		return err
	}
	if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
		return errors.New(`want "type": "object" and "additionalProperties": false`)
	}
	if err := checkProperties(schema.Properties); err != nil {
		return err
	}
	return checkDefaults(info)
}

func checkProperties(properties map[string]map[string]any) error {
	var missing []string
	for name, property := range properties {
		description, _ := property["description"].(string)
		if _, ok := property["default"]; !ok || description == "" {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		return fmt.Errorf("no description or no default: %q", missing)
	}
	return nil
}

func checkDefaults(info sdk.Info) error {
	defaults, err := Defaults(info)
	if err != nil {
		return err
	}
	object, err := json.Marshal(defaults)
	if err != nil {
		return err
	}
	return CheckOptions(info, object)
}

func compile(schema []byte) (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("options.json", document); err != nil {
		return nil, err
	}
	return compiler.Compile("options.json")
}
