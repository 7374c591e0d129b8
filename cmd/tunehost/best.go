package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host/analysis"
	"github.com/tunehost/tunehost/host/naming"
)

func (a *app) bestCommand() *cobra.Command {
	var q analysis.Query
	var scope string
	var asJSON, pareto, curve bool
	cmd := &cobra.Command{
		Use:   "best DIR",
		Short: "The best trial of an experiment",
		Long: `The best trial of an experiment by its objective, or by another metric.

--scope says which of a trial's values counts: last, min, max, mean, mean5 and
mean10 (of the last 5 and 10), or all for the best of all. With several
objectives it prints the trials that no other one beats in all of them: the
Pareto front, or with --metric the best by one of them.

Where each suggestion is run several times (repeat), the mean over its runs that
did not fail counts, once all of them have ended; what is printed is its first run.

--curve prints how the best value came about: each result that was better than
all before it.`,
		Example: `  tunehost best results/digits
  tunehost best results/digits --curve
  tunehost best results/digits --metric loss --scope min --json | jq .params`,
		Args: wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if q.Scope, err = analysis.ParseScope(scope); err != nil {
				return asUsage(err)
			}
			if pareto && (curve || q.Metric != "") {
				return usage("best: --pareto is about all objectives: leave out --curve and --metric")
			}
			return a.with(args[0], func(e *analysis.Experiment) error {
				switch {
				case curve:
					return a.curve(e, q, asJSON)
				case pareto || len(e.Objectives()) > 1 && q.Metric == "":
					return a.front(e, q.Scope, asJSON)
				}
				return a.best(e, q, asJSON)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Metric, "metric", "", "`METRIC` instead of the objective")
	flags.StringVar(&q.Mode, "mode", "", "min or max, for a metric that is no objective")
	flags.StringVar(&scope, "scope", "last", "`SCOPE`: last, min, max, mean, mean5, mean10, all")
	flags.BoolVar(&pareto, "pareto", false, "the Pareto front; with several objectives that is what is printed anyway")
	flags.BoolVar(&curve, "curve", false, "how the best value came about")
	jsonFlag(flags, &asJSON, "print a JSON object; with several objectives or --curve one a line")
	return cmd
}

func (a *app) best(e *analysis.Experiment, q analysis.Query, asJSON bool) error {
	best, ok, err := e.Best(q)
	switch {
	case err != nil:
		return asUsage(err)
	case !ok:
		return fmt.Errorf("%s: no trial has reported a finite value yet", e.Place())
	case asJSON:
		return a.line(best)
	}
	metric := q.Metric
	if metric == "" {
		metric = e.Objectives()[0].Metric
	}
	return a.writeBest(a.out, e, &best, metric)
}

func (a *app) writeBest(w io.Writer, e *analysis.Experiment, best *analysis.Ranked, metric string) error {
	head := fmt.Sprintf("%s %s (%s): %s", metric, number(best.Value), best.Scope, rankedTitle(best))
	if _, err := fmt.Fprintln(w, a.bold(head)); err != nil {
		return err
	}
	t := &table{}
	t.column("", false)
	t.column("", false)
	values := e.Config().Values(best.Params)
	for _, name := range e.ParamNames() {
		if v, ok := values[name]; ok {
			t.rows = append(t.rows, []string{name, naming.Brief(v)})
		}
	}
	t.rows = append(t.rows, []string{"state", fmt.Sprintf("%s after %d iterations, %s", best.State, best.Iteration, seconds(best.Seconds))},
		[]string{"files", best.Dir})
	if best.Checkpoint != "" {
		t.rows = append(t.rows, []string{"checkpoint", best.Checkpoint})
	}
	return t.write(w, 0, a.bold) // paths are for copying: never cut
}

func (a *app) front(e *analysis.Experiment, s analysis.Scope, asJSON bool) error {
	list := e.Front(s)
	switch {
	case len(list) == 0:
		return fmt.Errorf("%s: no trial has reported finite values of all objectives yet", e.Place())
	case asJSON:
		return a.trialLines(list)
	}
	return trialTable(e, list).write(a.out, a.width(), a.bold)
}

func (a *app) curve(e *analysis.Experiment, q analysis.Query, asJSON bool) error {
	steps, err := e.Curve(q)
	switch {
	case err != nil:
		return asUsage(err)
	case len(steps) == 0:
		return fmt.Errorf("%s: no trial has reported a finite value yet", e.Place())
	}
	metric := cmp.Or(q.Metric, e.Objectives()[0].Metric)
	t := &table{}
	for _, name := range []string{"after", "results", "trials", metric} {
		t.column(name, true)
	}
	t.column("by trial", false)
	t.column("at iter", true)
	for _, s := range steps {
		if asJSON {
			if err := a.line(s); err != nil {
				return err
			}
		}
		t.rows = append(t.rows, []string{seconds(float64(s.Seconds)), fmt.Sprint(s.Results), fmt.Sprint(s.Trials),
			number(float64(s.Value)), fmt.Sprintf("%d (%s)", s.Number, s.Trial), fmt.Sprint(s.Iteration)})
	}
	if asJSON {
		return nil
	}
	return t.write(a.out, a.width(), a.bold)
}
