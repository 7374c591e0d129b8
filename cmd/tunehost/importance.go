package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) importanceCommand() *cobra.Command {
	var q view.Query
	var scope string
	var top float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "importance DIR",
		Short: "How much each parameter matters",
		Long: `How much each parameter matters: how much more its values vary among all trials
than among the best of them, by the method PED-ANOVA. The shares add up to 1.

It sees each parameter by itself, so that two which matter only together are not
found; and a parameter that was hardly varied cannot be seen to matter. The more
trials, and the more evenly they are spread, the better it is known.`,
		Example: `  tunehost importance results/digits
  tunehost importance results/digits --metric loss --mode min --top 0.2 --json`,
		Args: wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if q.Scope, err = view.ParseScope(scope); err != nil {
				return asUsage(err)
			}
			return a.with(args[0], func(e *view.Recorded) error { return a.importance(e, q, top, asJSON) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Metric, "metric", "", "`METRIC` instead of the (first) objective")
	flags.StringVar(&q.Mode, "mode", "", "min or max, for a metric that is not an objective")
	flags.StringVar(&scope, "scope", "last", "`SCOPE`: last, min, max, mean, mean5, mean10, all")
	flags.Float64Var(&top, "top", 0.1, "the `SHARE` of the trials that are the best ones")
	jsonFlag(flags, &asJSON, "print one JSON object a line for each parameter")
	return cmd
}

// barCells is the length of the longest bar.
const barCells = 30

func (a *app) importance(e *view.Recorded, q view.Query, top float64, asJSON bool) error {
	shares, trials, err := e.Importance(q, top)
	switch {
	case err != nil:
		return asUsage(err)
	case shares == nil:
		return fmt.Errorf("%s: %d trials have a finite value; importance needs 10", e.Place(), trials)
	}
	t := &table{}
	t.column("", false)
	t.column("", true)
	t.column("", false)
	for _, s := range shares {
		if asJSON {
			if err := a.line(s); err != nil {
				return err
			}
		}
		bar := strings.Repeat("█", int(float64(s.Importance)*barCells+0.5))
		t.rows = append(t.rows, []string{s.Param, fmt.Sprintf("%.0f %%", 100*float64(s.Importance)), bar})
	}
	if asJSON {
		return nil
	}
	a.say("%s", a.bold(fmt.Sprintf("what matters for %s, by %d trials", cmp.Or(q.Metric, e.Objectives()[0].Metric), trials)))
	return t.write(a.out, a.width(), a.bold)
}
