package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/replay"
)

func (a *app) replayCommand() *cobra.Command {
	var trust bool
	cmd := &cobra.Command{
		Use:   "replay DIR",
		Short: "Replay the record and check that every decision is the same",
		Long: `Replay the record of an experiment, without training, and check that each suggestion and
each decision is the same. The command prints the first difference.

A searcher or scheduler that does not come with tunehost is started only with --trust,
and only if the files that tunehost.lock lists are unchanged. Without --trust, its
recorded answers are used. The lock lists every file of the plugin's folder and what the
command in its plugin.yaml names; of a plugin without a plugin.yaml, that file alone. It
does not list what else the program loads: not the interpreter on the PATH, not installed
packages (.venv, node_modules), and not what a single script imports.`,
		Example: "  tunehost replay results/digits",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.fetched(args[0], func(at string, _ bool) error {
				return a.untilDone(func(ctx context.Context) error {
					replayed, err := a.engine.replay(ctx, at,
						replay.Options{Plugins: plugins, Trust: trust, Waits: a.waiting.on})
					a.waiting.on("")
					if err == nil {
						a.replayed(args[0], replayed.Uncompared)
						a.warnOf(replayed.Lost)
					}
					for _, text := range replayed.Uncovered {
						fmt.Fprintf(a.err, "note: %s\n", clean(text))
					}
					for _, c := range replayed.Accepted {
						fmt.Fprintf(a.err, "note: %s; earlier answers came from the previous version\n", c)
					}
					return err
				})
			})
		},
	}
	trustFlag(cmd.Flags(), &trust)
	return cmd
}

func trustFlag(flags *pflag.FlagSet, to *bool) {
	flags.BoolVar(to, "trust", false, "start plugins that do not come with tunehost, which run as you")
}

func (a *app) replayed(dir string, uncompared []string) {
	if len(uncompared) == 0 {
		a.say("%s: every suggestion and decision is the same", dir)
		return
	}
	a.say("%s: the record is intact, and all compared answers are the same", dir)
	a.say("not compared: the answers of %s, whose code does not come with tunehost; --trust starts it",
		strings.Join(uncompared, " and "))
}

// untilDone runs a function that a signal ends.
func (a *app) untilDone(f func(context.Context) error) error {
	_, err := a.untilSignalled(host.NewExit(a.err),
		func(ctx context.Context) (host.Ended, error) { return host.Ended{}, f(ctx) })
	return err
}
