package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host"
)

func (a *app) validateCommand() *cobra.Command {
	o := host.Options{Plugins: plugins, Output: host.Output{Stdout: a.out, Stderr: a.err}}
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check an experiment file, and run nothing",
		Long: `Check an experiment file: its keys, the space, the plugins and their permissions and
options, and whether a trial fits this machine. Nothing is run.

The options of a plugin that does not come with tunehost are checked only with --start:
the command starts the plugin, asks for its options, and ends it.`,
		Example: "  tunehost validate digits.yaml",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			o.File, o.Waits = args[0], a.waiting.on
			o.Await("the checks of " + args[0])
			summary, err := a.engine.validate(context.Background(), o)
			a.waiting.on("")
			if err != nil {
				return err
			}
			a.say("%s is valid\n%s", args[0], summary)
			return nil
		},
	}
	flags := cmd.Flags()
	setFlag(flags, &o)
	flags.BoolVar(&o.Trust, "start", false, "start plugins that do not come with tunehost, to check their options")
	flags.StringVar(&o.Resources, "resources", "",
		"resources to use instead of those detected, as `cpu=16,gpu=2`")
	return cmd
}
