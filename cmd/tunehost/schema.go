package main

import (
	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host/config"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of experiment files",
		Long: `Print the JSON Schema of experiment files, with the options of bundled plugins. Editors
use it for completion and checks. Other plugins are not run: the schema allows any
options for them, and tunehost checks these when an experiment starts.`,
		Example: `  tunehost schema > tunehost.schema.json
  # and in the first line of an experiment file:
  # yaml-language-server: $schema=tunehost.schema.json`,
		Args: wants(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(config.SchemaWith(plugins.Infos()))
			return err
		},
	}
}
