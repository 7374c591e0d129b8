package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host/scaffold"
)

func (a *app) pluginsNewCommand() *cobra.Command {
	p := scaffold.Plugin{}
	cmd := &cobra.Command{
		Use:   "new DIR",
		Short: "Create a new plugin from a template",
		Long: `Create a new plugin: a folder that builds and runs as it is, with tests, a README that
says what to edit, and a copy of tunehost's SDK.`,
		Example: "  tunehost plugins new --kind searcher --lang go plugins/mine",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			p.Dir = args[0]
			if err := p.Make(); err != nil {
				return asUsage(err)
			}
			article := "a"
			if p.Kind == "executor" {
				article = "an"
			}
			a.say("%s is %s %s in %s; %s says how to build it and what to edit", p.Dir, article, p.Kind, p.Language,
				filepath.Join(p.Dir, "README.md"))
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&p.Kind, "kind", "", "`KIND`: searcher, scheduler or trainable; with --lang python "+
		"also reporter or executor")
	flags.StringVar(&p.Language, "lang", "", "`LANGUAGE`: "+strings.Join(scaffold.Languages(), ", "))
	flags.StringVar(&p.Name, "name", "", "`NAME` of the plugin; by default the folder's name")
	flags.BoolVar(&p.WASM, "wasm", false, "create a WebAssembly module, which runs in a sandbox")
	return cmd
}
