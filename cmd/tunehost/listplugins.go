package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func (a *app) pluginsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugins",
		Short:   "Searchers, schedulers and trainables that there are",
		Example: "  tunehost plugins list\n  tunehost plugins describe asha",
		Args:    wants(0, 0),
		RunE:    func(*cobra.Command, []string) error { return a.listPlugins(false) },
	}
	cmd.AddCommand(a.pluginsListCommand(), a.pluginsDescribeCommand())
	return cmd
}

func (a *app) pluginsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List plugins",
		Example: "  tunehost plugins list --json | jq -r 'select(.kind == \"searcher\").name'",
		Args:    wants(0, 0),
		RunE:    func(*cobra.Command, []string) error { return a.listPlugins(asJSON) },
	}
	jsonFlag(cmd.Flags(), &asJSON, "print one JSON object a line for each plugin")
	return cmd
}

// listedPlugin has the stable shape of `plugins list --json`.
type listedPlugin struct {
	Name      string   `json:"name"`
	Kind      sdk.Kind `json:"kind"`
	Version   string   `json:"version"`
	Transport string   `json:"transport"`
	Path      string   `json:"path"`
	SHA256    string   `json:"sha256"`
	Summary   string   `json:"summary"`
}

func (a *app) listPlugins(asJSON bool) error {
	if asJSON {
		return a.pluginLines()
	}
	t := &table{}
	t.column("kind", false)
	t.column("name", false)
	t.column("version", false)
	t.column("", false)
	for _, i := range plugins.Infos() {
		t.rows = append(t.rows, []string{string(i.Kind), i.Name, i.Version, i.Summary})
	}
	return t.write(a.out, a.width(), a.bold)
}

// pluginLines: bundled plugins are this very program.
func (a *app) pluginLines() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	sum, err := process.Hash(path)
	if err != nil {
		return err
	}
	for _, i := range plugins.Infos() {
		if err := a.line(listedPlugin{i.Name, i.Kind, i.Version, "bundled", path, sum, i.Summary}); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) pluginsDescribeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "describe NAME",
		Short:   "What a plugin does, and its options",
		Example: "  tunehost plugins describe asha",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			var names []string
			found := false
			for _, i := range plugins.Infos() {
				names = append(names, i.Name)
				if i.Name != args[0] {
					continue
				}
				found = true
				if err := a.describe(i); err != nil {
					return err
				}
			}
			if !found {
				return usage("no plugin %q; there are %s%s", args[0], strings.Join(names, ", "), nearest.Hint(args[0], names))
			}
			return nil
		},
	}
}

// option is what an option's JSON Schema says to people.
type option struct {
	Type        any             `json:"type"`
	Enum        []any           `json:"enum"`
	Default     json.RawMessage `json:"default"`
	Description string          `json:"description"`
}

func (a *app) describe(i sdk.Info) error {
	a.say("%s", a.bold(fmt.Sprintf("%s %s %s", i.Kind, i.Name, i.Version)))
	a.say("%s", i.Summary)
	var schema struct {
		Properties map[string]option `json:"properties"`
		Required   []string          `json:"required"`
	}
	if len(i.Options) > 0 {
		if err := json.Unmarshal(i.Options, &schema); err != nil {
			return fmt.Errorf("the schema of %s's options: %w", i.Name, err)
		}
	}
	if len(schema.Properties) == 0 {
		a.say("It has no options.")
		return nil
	}
	t := &table{}
	t.column("option", false)
	t.column("value", false)
	t.column("default", false)
	t.column("", false)
	names := make([]string, 0, len(schema.Properties))
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		o := schema.Properties[name]
		fallback := string(o.Default)
		if slices.Contains(schema.Required, name) {
			fallback = "required"
		}
		t.rows = append(t.rows, []string{name, o.form(), fallback, o.Description})
	}
	a.say("")
	return t.write(a.out, a.width(), a.bold)
}

// form is what an option's value may be.
func (o *option) form() string {
	if len(o.Enum) > 0 {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Enum), " ", ", "), "[]")
	}
	if list, ok := o.Type.([]any); ok {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", " or "), "[]")
	}
	if o.Type == nil {
		return "anything"
	}
	return fmt.Sprint(o.Type)
}
