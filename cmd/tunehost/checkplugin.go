package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/checkup"
	"github.com/tunehost/tunehost/host/plugin/finder"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func (a *app) pluginsCheckCommand() *cobra.Command {
	var options, params string
	try := checkup.Try{}
	cmd := &cobra.Command{
		Use:   "check PATH",
		Short: "Try a plugin: start it and make a handful of calls",
		Long: `Try a plugin: start it, look at what it says of itself and of its options, open it
with a small problem and make a handful of calls. It is for while you write one;
tunehost conformance holds it against all that a plugin must do.

Exit status: 0 all checks pass, 1 one fails, 2 a mistake on the command line.`,
		Example: `  tunehost plugins check ./plugins/mine --options '{"spread": 0.1}'`,
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			try.Options, try.Params = []byte(options), []byte(params)
			for flag, text := range map[string][]byte{"options": try.Options, "params": try.Params} {
				if err := checkup.Object(text); err != nil {
					return usage("--%s %s: %v", flag, text, err)
				}
			}
			return a.checkPlugin(args[0], try)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&options, "options", "{}", "the plugin's options, a `JSON` object")
	flags.StringVar(&params, "params", "{}", "the parameters of the trial that a trainable is tried with, a `JSON` object")
	flags.DurationVar(&try.Timeout, "timeout", time.Minute, "for opening it and all calls together")
	return cmd
}

// starting starts one plugin, as often as it is wanted.
func starting(p *finder.Found) func(context.Context, sdk.Kind) (plugin.Plugin, error) {
	return func(ctx context.Context, kind sdk.Kind) (plugin.Plugin, error) {
		return host.StartPlugin(ctx, plugins, p, kind)
	}
}

func (a *app) checkPlugin(name string, try checkup.Try) error {
	p, err := find(name)
	if err != nil {
		return err
	}
	try.Start, try.Kind = starting(p), p.Kind
	var list []host.Finding
	for _, f := range try.Run(context.Background()) {
		list = append(list, host.Finding(f))
	}
	return a.report(list)
}
