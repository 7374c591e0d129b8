package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host"
)

func (a *app) replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay DIR",
		Short: "Run the record again and check that every decision is the same",
		Long: `Run the record of an experiment again, without training anything, and check that
each suggestion and each decision comes out the same. The first difference is shown.`,
		Example: "  tunehost replay results/digits",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.fetched(args[0], func(at string, _ bool) error {
				return a.untilDone(func(ctx context.Context) error {
					if err := host.Replay(ctx, at, plugins); err != nil {
						return err
					}
					a.say("%s: every suggestion and decision is the same", args[0])
					return nil
				})
			})
		},
	}
}

// untilDone runs something that a signal ends.
func (a *app) untilDone(f func(context.Context) error) error {
	_, err := a.untilSignalled(func(ctx context.Context) (host.Ended, error) { return host.Ended{}, f(ctx) })
	return err
}
