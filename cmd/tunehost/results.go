package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) resultsCommand() *cobra.Command {
	var points int
	var metric string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "results DIR TRIAL",
		Short: "Show all results of one trial",
		Long: `Show all results of one trial. TRIAL is a number or an id. If a restarted trial reported
an iteration twice, the later report counts.

--points thins out a long curve. It keeps the first and the last result, divides the
others into equal parts, and keeps the results with the smallest and the largest value
of each part.`,
		Example: `  tunehost results results/digits 17
  tunehost results results/digits 17 --points 100 --json`,
		Args: wants(2, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			if points < 0 || points == 1 {
				return usage("results: --points %d: expected 2 or more, or 0 for all", points)
			}
			return a.with(args[0], func(e *view.Recorded) error {
				no, err := e.Find(args[1])
				if err != nil {
					return asUsage(err)
				}
				all, err := e.Curves(no, metric, points)
				if err != nil {
					return asUsage(err)
				}
				return a.results(e, all, asJSON)
			})
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&points, "points", 0, "show at most this many `POINTS`; 0: all")
	flags.StringVar(&metric, "metric", "",
		"with --points: keep the extremes of `METRIC` instead of the (first) objective")
	jsonFlag(flags, &asJSON, "print one JSON object a line for each result")
	return cmd
}

func (a *app) results(e *view.Recorded, all []view.Result, asJSON bool) error {
	if asJSON {
		for i := range all {
			if err := a.line(all[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		a.say("no results yet")
		return nil
	}
	return resultTable(all, metricsFirst(e)).write(a.out, a.width(), a.bold)
}

// metricsFirst returns the names of the metrics, objectives before others.
func metricsFirst(e *view.Recorded) (names []string) {
	known := map[string]bool{}
	for _, o := range e.Objectives() {
		names, known[o.Metric] = append(names, o.Metric), true
	}
	for _, name := range e.MetricNames() {
		if !known[name] {
			names = append(names, name)
		}
	}
	return names
}

func resultTable(all []view.Result, metrics []string) *table {
	t := &table{}
	t.column("iter", true)
	t.column("time", true)
	for i, name := range metrics {
		if i == 0 {
			t.column(name, true)
		} else {
			t.detail(name, true)
		}
	}
	t.detail("attempt", true)
	for i := range all {
		r := &all[i]
		row := []string{fmt.Sprint(r.Iteration), seconds(r.Seconds)}
		for _, name := range metrics {
			if v, ok := r.Metric(name); ok {
				row = append(row, number(v))
			} else {
				row = append(row, "-")
			}
		}
		t.rows = append(t.rows, append(row, fmt.Sprint(r.Attempt)))
	}
	return t
}
