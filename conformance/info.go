package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config/fit"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// verbs are the implementations of checks, by name.
var verbs map[string]verb

func init() {
	verbs = map[string]verb{
		"describe": plain(describe), "options-schema": plain(optionsSchema), "options-defaults": plain(optionsDefaults),
		"options-unknown": plain(optionsUnknown), "options-wrong-type": plain(optionsWrongType),
	}
	for _, more := range []map[string]verb{searcherVerbs, schedulerVerbs, trainableVerbs, executorVerbs,
		agentVerbs} {
		maps.Copy(verbs, more)
	}
}

// info returns the plugin's description.
func (s *subject) info() (sdk.Info, error) {
	return s.declared.describe(func() (sdk.Info, error) {
		p, err := s.plugin()
		if err != nil {
			return sdk.Info{}, err
		}
		return p.Describe(s.ctx)
	})
}

// CheckInfo returns an error if a description violates the rules of describe/info and
// describe/options: for tests of plugins that are not started.
func CheckInfo(info sdk.Info, kind sdk.Kind) error {
	if err := describes(info, kind); err != nil {
		return err
	}
	x, err := schemaOf(info)
	if err != nil {
		return err
	}
	return x.check(func(all map[string]json.RawMessage) ([]byte, error) {
		if len(x.Required) > 0 {
			return nil, nil // whose values belong to the user
		}
		return json.Marshal(all)
	})
}

func describe(s *subject) error {
	info, err := s.info()
	if err != nil {
		return err
	}
	return describes(info, s.kind)
}

func describes(info sdk.Info, kind sdk.Kind) error {
	switch {
	case info.Kind != kind:
		return wanted(fmt.Sprintf("the kind %q", kind), "%q", info.Kind)
	case !sdk.IsName(info.Name):
		return wanted("a name of lower case letters, digits and dashes", "%q", info.Name)
	case info.Version == "":
		return wanted("a version", "none")
	case info.Summary == "" || strings.ContainsAny(info.Summary, "\n\r"):
		return wanted("a summary of one line", "%q", info.Summary)
	}
	return nil
}

// schema is the part of the JSON Schema of options that the suite reads.
type schema struct {
	Type       string                     `json:"type"`
	Closed     *bool                      `json:"additionalProperties"`
	Required   []string                   `json:"required"`
	Properties map[string]json.RawMessage `json:"properties"`

	whole *fit.Schema
}

// property is an option in the schema.
type property struct {
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
}

func (s *subject) schema() (*schema, error) {
	info, err := s.info()
	if err != nil {
		return nil, err
	}
	return schemaOf(info)
}

func schemaOf(info sdk.Info) (x *schema, err error) {
	x = &schema{}
	if x.whole, err = fit.Compile(info.Options); err != nil {
		return nil, wanted("a JSON Schema of the options", "%v", err)
	}
	if json.Unmarshal(info.Options, x) != nil {
		return nil, wanted(`a JSON Schema with "type": "object" and "additionalProperties": false`, "%s", info.Options)
	}
	return x, nil
}

// validate returns an error if the options do not match the schema.
func (x *schema) validate(options []byte) error {
	faults, err := x.whole.Faults(options)
	if err != nil || len(faults) == 0 {
		return err
	}
	return &faults[0]
}

func (x *schema) names() []string { return slices.Sorted(maps.Keys(x.Properties)) }

// defaults returns the defaults of all options that have one.
func (x *schema) defaults() (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	for _, name := range x.names() {
		var p property
		if err := json.Unmarshal(x.Properties[name], &p); err != nil {
			return nil, wanted("a schema with a description for each option", "%q: %s", name, x.Properties[name])
		}
		if p.Description == "" {
			return nil, wanted("a description for each option", "none for %q", name)
		}
		if p.Default == nil && !slices.Contains(x.Required, name) {
			return nil, wanted("a default for each option that is not required", "none for %q", name)
		}
		if p.Default != nil {
			all[name] = p.Default
		}
	}
	return all, nil
}

// with returns the suite's own options, overridden by over.
func (s *subject) with(over map[string]json.RawMessage) ([]byte, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(s.options(), &all); err != nil {
		return nil, err
	}
	maps.Copy(all, over)
	return json.Marshal(all)
}

func optionsSchema(s *subject) error {
	x, err := s.schema()
	if err != nil {
		return err
	}
	return x.check(s.with)
}

// check checks that the schema is closed, and that its defaults match: combined by complete with
// options that open the plugin. A nil result is not checked.
func (x *schema) check(complete func(map[string]json.RawMessage) ([]byte, error)) error {
	if x.Type != "object" || x.Closed == nil || *x.Closed {
		return wanted(`"type": "object" and "additionalProperties": false`, "type %q, and others allowed", x.Type)
	}
	all, err := x.defaults()
	if err != nil {
		return err
	}
	for _, name := range x.Required { // their values belong to the user
		delete(all, name)
	}
	options, err := complete(all)
	if err != nil || options == nil {
		return err
	}
	if err := x.validate(options); err != nil {
		return wanted("defaults that fit the schema", "%v", err)
	}
	return nil
}

// open opens the plugin with the options, on a problem that every plugin accepts: without
// conditions and constraints.
func (s *subject) open(options []byte) error {
	p, err := s.plugin()
	if err != nil {
		return err
	}
	plain, err := problem("uniform")
	if err != nil {
		return err
	}
	plain.Trials = 10
	switch s.kind {
	case sdk.KindSearcher:
		_, err = p.OpenSearcher(s.ctx, plain, options, nil)
	case sdk.KindScheduler:
		_, err = p.OpenScheduler(s.ctx, plain, options, nil)
	case sdk.KindReporter:
		err = s.openReporter(p, plain, options)
	case sdk.KindExecutor:
		err = s.openExecutor(p, options)
	default:
		_, err = p.OpenTrainable(s.ctx, options)
	}
	return err
}

func (s *subject) openReporter(p plugin.Plugin, plain sdk.Problem, options []byte) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	_, err = p.OpenReporter(s.ctx, sdk.Experiment{Name: "check", Dir: dir, Problem: plain}, options)
	return err
}

func optionsDefaults(s *subject) error {
	x, err := s.schema()
	if err != nil {
		return err
	}
	all, err := x.defaults()
	if err != nil {
		return err
	}
	own := map[string]json.RawMessage{}
	if err := json.Unmarshal(s.options(), &own); err != nil {
		return err
	}
	maps.Copy(all, own)
	options, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := s.open(s.options()); err != nil {
		return wanted("to be opened", "%v", err)
	}
	if err := s.open(options); err != nil {
		return wanted("to be opened with all its defaults written out", "%s: %v", options, err)
	}
	return nil
}

// refused checks that opening with the options was refused, in one line.
func (s *subject) refused(options []byte) error {
	err := s.open(options)
	if plugin.FailureOf(err) == plugin.Refused && !strings.Contains(err.Error(), "\n") {
		return nil
	}
	return wanted("OpenX to refuse them (INVALID_ARGUMENT), in one line", "%s: %s", options, describeOpen(err))
}

// describeOpen describes an answer to Open.
func describeOpen(err error) string {
	if err == nil {
		return "it was opened"
	}
	return err.Error()
}

func optionsUnknown(s *subject) error {
	options, err := s.with(map[string]json.RawMessage{"no_such_option": json.RawMessage("1")})
	if err != nil {
		return err
	}
	return s.refused(options)
}

// strangers are values of each type; an option accepts them only if its type allows it.
var strangers = []string{`"twelve"`, `1.5`, `true`, `["x", {}]`, `{"x": []}`}

func optionsWrongType(s *subject) error {
	x, err := s.schema()
	if err != nil {
		return err
	}
	tried := false
	for _, name := range x.names() {
		stranger, err := s.wrongTypes(x, name)
		if err != nil {
			return err
		}
		if stranger == nil {
			continue
		}
		tried = true
		if err := s.refused(stranger); err != nil {
			return err
		}
		if s.Short {
			return nil
		}
	}
	if !tried {
		return inapplicable("it has no option that could have a wrong type")
	}
	return nil
}

// wrongTypes returns options in which one has a wrong type, or nil if it accepts any.
func (s *subject) wrongTypes(x *schema, name string) ([]byte, error) {
	for _, value := range strangers {
		options, err := s.with(map[string]json.RawMessage{name: json.RawMessage(value)})
		if err != nil {
			return nil, err
		}
		if x.validate(options) != nil {
			return options, nil
		}
	}
	return nil, nil
}
