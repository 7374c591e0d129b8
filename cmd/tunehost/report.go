package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

func (a *app) reportCommand() *cobra.Command {
	var checkpoint string
	var iteration uint64
	cmd := &cobra.Command{
		Use:   "report NAME=VALUE...",
		Short: "Report a result, from within a trial's program",
		Long: `Report a result, from within a program that tunehost runs, and print what to do:
continue, pause or stop. On pause and stop the program shall save what it needs
and exit.`,
		Example: `  answer=$(tunehost report accuracy=0.93 loss=0.2 --checkpoint "$dir")
  if [ "$answer" != continue ]; then exit 0; fi`,
		Args: wants(1, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			metrics, err := metricsOf(args)
			if err != nil {
				return err
			}
			decision, err := channel.Report(a.env["TUNEHOST_CHANNEL"], metrics, iteration, checkpoint)
			if err == nil {
				a.say("%s", decision)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "a finished checkpoint of this result, a `DIR` below TUNEHOST_CHECKPOINT_DIR")
	cmd.Flags().Uint64Var(&iteration, "iteration", 0, "number of the iteration, from 1; counted by the host where it is not said")
	return cmd
}

func metricsOf(pairs []string) (map[string]float64, error) {
	metrics := map[string]float64{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, usage("report: %q: expected NAME=NUMBER", pair)
		}
		if err := channel.CheckName(name); err != nil {
			return nil, usage("report: %v", err)
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, usage("report: %s: %q is no number", name, text)
		}
		if _, twice := metrics[name]; twice {
			return nil, usage("report: %s is given twice", name)
		}
		metrics[name] = v
	}
	return metrics, nil
}
