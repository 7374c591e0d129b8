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
		Short: "Train by yourself: ask for trials and tell results, as JSON lines",
		Long: `Train by yourself: ask for trials on standard input and tell their results, one
JSON object a line. Each request gets its answer on one line of standard output.
With - the first line is the experiment, as JSON.

  {"ask":true}                                      a trial, {"wait":true} or {"finished":true}
  {"report":"ID","metrics":{"loss":0.3}}            a decision: continue, pause or stop
  {"tell":"ID","metrics":{"loss":0.2}}              it has ended
  {"tell":"ID","failed":"why"}
  {"best":true}`,
		Example: `  tunehost asktell digits.yaml --storage none`,
		Args:    wants(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := saysSomething(cmd.Flags(), "name", "storage"); err != nil {
				return err
			}
			o.File, o.Stderr, o.Verbose, o.Plugins = args[0], a.err, 1, plugins
			_, err := a.untilSignalled(host.NewExit(a.err), func(ctx context.Context) (host.Ended, error) {
				return host.Ended{}, host.AskTell(ctx, a.in, a.out, o)
			})
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.Sets, "set", nil, "override a key of the file, as `KEY=VALUE`; may be repeated")
	flags.StringVar(&o.Storage, "storage", "", "where results go, a `DIR`; none: they are not kept")
	flags.StringVar(&o.Name, "name", "", "`NAME` of the experiment and its directory")
	acceptFlag(flags, &o)
	trustDirFlag(flags, &o)
	return cmd
}
