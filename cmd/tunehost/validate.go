package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host"
)

func (a *app) validateCommand() *cobra.Command {
	o := host.Options{Plugins: plugins, Stdout: a.out, Stderr: a.err}
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check an experiment file, and run nothing",
		Long: `Check an experiment file: its keys, the space, whether the plugins are there and
what they want is granted, whether they take their options, whether a trial fits this
machine. Nothing is run. Plugins that do not come with tunehost only say themselves
which options they have: with --start they are started, asked, and ended again.`,
		Example: "  tunehost validate digits.yaml",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			o.File = args[0]
			if err := a.engine.validate(context.Background(), o); err != nil {
				return err
			}
			a.say("%s is valid", args[0])
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.Sets, "set", nil, "override a key of the file, as `KEY=VALUE`; may be repeated")
	flags.BoolVar(&o.Start, "start", false, "start plugins of your own, to ask them about their options")
	flags.StringVar(&o.Resources, "resources", "", "what the machine offers instead of what was found, as `cpu=16,gpu=2`")
	return cmd
}
