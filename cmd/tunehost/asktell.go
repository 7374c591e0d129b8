package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host"
)

func (a *app) askTellCommand() *cobra.Command {
	var o host.Options
	cmd := &cobra.Command{
		Use:   "asktell FILE|-",
		Short: "Train trials in your own program: ask and tell, as JSON lines",
		Long: `Train trials in your own program. The program writes requests to standard input, one
JSON object per line, and reads one line of standard output as the answer to each. If
FILE is -, the first line is the experiment, as JSON.

  {"ask":true}                               get a trial, {"wait":true} or {"finished":true}
  {"report":"ID","metrics":{"loss":0.3}}     get a decision: continue, pause or stop
  {"tell":"ID","metrics":{"loss":0.2}}       the trial has ended
  {"tell":"ID","failed":"why"}               the trial has failed
  {"best":true}                              get the best trial`,
		Example: `  tunehost asktell digits.yaml --storage none`,
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			o.File, o.Stderr, o.Verbose, o.Plugins, o.Waits = args[0], a.err, 1, plugins, a.waiting.on
			survivePipes()
			_, err := a.untilSignalled(host.NewExit(a.err), func(ctx context.Context) (host.Ended, error) {
				return host.Ended{}, a.engine.askTell(ctx, a.in, a.out, o)
			})
			return err
		},
	}
	flags := cmd.Flags()
	setFlag(flags, &o)
	flags.StringVar(&o.Storage, "storage", "", "store results in `DIR`; none: do not store them")
	flags.StringVar(&o.Name, "name", "", "`NAME` of the experiment and its directory")
	acceptFlag(flags, &o)
	trustDirFlag(flags, &o)
	return cmd
}
