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
		Short: "Show how much each parameter matters",
		Long: `Show how much each parameter matters. The method PED-ANOVA compares how a parameter's
values vary among all trials and among the best trials. The shares add up to 1.

The method looks at one parameter at a time: it does not detect parameters that matter
only together, or a parameter that was hardly varied. More trials, spread more evenly,
give a more reliable result. It needs 10 trials, and 2 for each parameter.`,
		Example: `  tunehost importance results/digits
  tunehost importance results/digits --metric loss --mode min --top 0.2 --json`,
		Args: wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if q.Scope, err = view.ParseScope(scope); err != nil {
				return asUsage(err)
			}
			return a.with(args[0], func(e *view.Recorded) error {
				a.noteMode(e, q.Metric, q.Mode)
				return a.importance(e, q, top, asJSON)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Metric, "metric", "", "use `METRIC` instead of the (first) objective")
	flags.StringVar(&q.Mode, "mode", "", "`MODE`: min or max; a metric that is not an objective needs it")
	flags.StringVar(&scope, "scope", "last", "`SCOPE`: last, min, max, mean, mean5, mean10, all")
	flags.Float64Var(&top, "top", 0.1, "`SHARE` of the trials that count as the best")
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
		return fmt.Errorf("%s: %s", e.Place(), e.FewForImportance(trials))
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
	cautions, err := e.Cautions(q, top, shares)
	for _, text := range cautions {
		fmt.Fprintf(a.err, "caution: %s\n", clean(text))
	}
	if asJSON || err != nil {
		return err
	}
	a.say("%s", a.bold(fmt.Sprintf("importance for %s, from %s", cmp.Or(q.Metric, e.Objectives()[0].Metric),
		e.Compared(trials))))
	return t.write(a.out, a.width(), a.bold)
}
