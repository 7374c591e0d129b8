package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/remote"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

const bestLong = `Show the best trial of an experiment by its objective, or by another metric.

--scope says which value of a trial counts: last, min, max, mean, mean5 and mean10 (the
mean of the last 5 and 10), or all for the best of all. Values that are not finite are left
out of all of these but last: a trial whose last value is NaN or infinite has none.

With several objectives the command prints the Pareto front, the trials that no other trial
beats in all objectives; with --metric it prints the best trial by that objective.

If each suggestion runs several times (repeat), the mean over the runs that did not fail
counts, once all runs have ended. The command prints the first run that counts.

Parameters, iteration and checkpoint belong to exactly the printed value. If a trial
continued with other parameters, or from another trial's checkpoint, its earlier values
keep their own parameters. If the checkpoint of the value was deleted, the command prints
the nearest one that the trial made with the same parameters.

--checkpoint prints the path of the value's checkpoint and nothing else. If the files of that
checkpoint are in the storage alone, because a node wrote them there or another machine ran
the experiment last, they are fetched first.
If that checkpoint was deleted, the exit status is 1.

--curve prints how the best value improved: each result that was better than all before. With
repeat these are results of single runs, and not means.`

const bestExample = `  tunehost best results/digits
  tunehost best results/digits --curve
  cp -r "$(tunehost best results/digits --scope min --checkpoint)" best-model
  tunehost best results/digits --metric loss --scope min --json | jq .params`

func (a *app) bestCommand() *cobra.Command {
	var q view.Query
	var scope string
	var asJSON, pareto, curve, checkpoint bool
	cmd := &cobra.Command{
		Use:     "best DIR",
		Short:   "Show the best trial of an experiment",
		Long:    bestLong,
		Example: bestExample,
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if q.Scope, err = view.ParseScope(scope); err != nil {
				return asUsage(err)
			}
			if pareto && (curve || q.Metric != "") {
				return usage("best: --pareto uses all objectives: omit --curve and --metric")
			}
			if checkpoint && (curve || pareto || asJSON) {
				return usage("best: --checkpoint prints only a path: omit --curve, --pareto and --json")
			}
			return a.with(args[0], func(e *view.Recorded) error {
				front := pareto || len(e.Objectives()) > 1 && q.Metric == "" && !curve && !checkpoint
				if front && q.Mode != "" {
					return usage("best: in a Pareto front each objective has its own mode: omit --mode, or name one " +
						"with --metric")
				}
				a.noteMode(e, q.Metric, q.Mode)
				switch {
				case checkpoint:
					return a.bestCheckpoint(e, q)
				case curve:
					return a.curve(e, q, asJSON)
				case front:
					return a.front(e, q.Scope, asJSON)
				}
				return a.best(e, q, asJSON)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Metric, "metric", "", "use `METRIC` instead of the objective")
	flags.StringVar(&q.Mode, "mode", "", "`MODE`: min or max; a metric that is not an objective needs it")
	flags.StringVar(&scope, "scope", "last", "`SCOPE`: last, min, max, mean, mean5, mean10, all")
	flags.BoolVar(&pareto, "pareto", false, "print the Pareto front; this is the default with several objectives")
	flags.BoolVar(&checkpoint, "checkpoint", false, "print only the path of its checkpoint")
	flags.BoolVar(&curve, "curve", false, "print each result that was better than all before")
	jsonFlag(flags, &asJSON, "print a JSON object; with several objectives or --curve one a line")
	return cmd
}

// noteMode says that --mode is not the objective's: what is best for it is worst for the experiment. Other words than
// min and max are refused later.
func (a *app) noteMode(e *view.Recorded, metric, mode string) {
	for i, o := range e.Objectives() {
		against := (mode == "min" || mode == "max") && mode != o.Mode.String()
		if against && (o.Metric == metric || metric == "" && i == 0) {
			fmt.Fprintf(a.err, "note: the mode of the objective %s is %s; with --mode %s the worst trials "+
				"count as the best\n", clean(o.Metric), o.Mode, mode)
		}
	}
}

// bestCheckpoint prints the directory of the value's own checkpoint.
func (a *app) bestCheckpoint(e *view.Recorded, q view.Query) error {
	if len(e.Objectives()) > 1 && q.Metric == "" {
		return usage("best: --checkpoint needs one objective: name it with --metric")
	}
	best, ok, err := e.Best(q)
	switch {
	case err != nil:
		return asUsage(err)
	case !ok:
		return a.noValue(e, q)
	case best.Away != "":
		return a.fetchCheckpoint(e, best.Away)
	case best.Checkpoint == "":
		return fmt.Errorf("%s: %s", e.Place(), noCheckpoint(e, &best))
	}
	if err := mirror.BringHere(context.Background(), e.Dir.Path(), filepath.Dir(best.Checkpoint)); err != nil {
		return err
	}
	a.say("%s", best.Checkpoint)
	return nil
}

// fetchCheckpoint fetches the checkpoint of an experiment that another machine ran last.
func (a *app) fetchCheckpoint(e *view.Recorded, away string) error {
	part, err := filepath.Rel(e.Dir.Path(), filepath.Dir(away))
	if err != nil {
		return err
	}
	files, err := remote.FetchCheckpoint(context.Background(), e.Place(), part)
	if err == nil {
		a.say("%s", files)
	}
	return err
}

// noCheckpoint says that a value's checkpoint does not exist, and which one does.
func noCheckpoint(e *view.Recorded, best *view.Ranked) string {
	what := fmt.Sprintf("the checkpoint of iteration %d of trial %d (%s)", best.Iteration, best.Number, best.ID)
	switch {
	case !best.Saves:
		return fmt.Sprintf("trial %d (%s) has made no checkpoint", best.Number, best.ID)
	case best.Nearest == "" && best.NearestAt > 0:
		return fmt.Sprintf("%s does not exist; the nearest is that of iteration %d", what, best.NearestAt)
	case best.Nearest == "":
		return what + " does not exist, and no other with these parameters"
	}
	return fmt.Sprintf("%s does not exist; the nearest is that of iteration %d: %s", what, best.NearestAt, best.Nearest)
}

// noValue says why there is no best trial.
func (a *app) noValue(e *view.Recorded, q view.Query) error {
	why, err := e.NoValue(q.Metric)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %s", e.Place(), why)
}

func (a *app) best(e *view.Recorded, q view.Query, asJSON bool) error {
	best, ok, err := e.Best(q)
	switch {
	case err != nil:
		return asUsage(err)
	case !ok:
		return a.noValue(e, q)
	case asJSON:
		return a.line(best)
	}
	metric := q.Metric
	if metric == "" {
		metric = e.Objectives()[0].Metric
	}
	return a.writeBest(a.out, e, &best, metric)
}

func (a *app) writeBest(w io.Writer, e *view.Recorded, best *view.Ranked, metric string) error {
	head := fmt.Sprintf("%s %s (%s): %s", metric, number(best.Value), best.Scope, rankedTitle(best))
	if _, err := fmt.Fprintln(w, a.bold(head)); err != nil {
		return err
	}
	t := &table{}
	t.column("", false)
	t.column("", false)
	values, told := e.Config.Values(best.Params), tellersOf(e.Experiment)
	for _, name := range e.ParamNames() {
		if v, ok := values[name]; ok {
			t.rows = append(t.rows, []string{name, told.copyable(name, v)})
		}
	}
	if best.Iteration != best.Last {
		t.rows = append(t.rows, []string{"iteration", fmt.Sprintf("%d of %d", best.Iteration, best.Last)})
	}
	t.rows = append(t.rows, []string{"state", fmt.Sprintf("%s after %s, %s", best.State,
		plural(int(best.Last), "iteration"), seconds(best.Seconds))},
		[]string{"files", best.Dir})
	switch {
	case best.Checkpoint != "":
		t.rows = append(t.rows, []string{"checkpoint", best.Checkpoint})
	case best.Away != "":
		t.rows = append(t.rows, []string{"checkpoint", fmt.Sprintf("in the storage; `tunehost best --checkpoint %s` "+
			"fetches it", untrusted.Word(e.Place()))})
	case best.Saves:
		t.rows = append(t.rows, []string{"checkpoint", noCheckpoint(e, best)})
	}
	return t.write(w, 0, a.bold) // paths are for copying: never cut
}

func (a *app) front(e *view.Recorded, s view.Scope, asJSON bool) error {
	list, err := e.Front(s)
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		return a.noFront(e)
	case asJSON:
		return a.trialLines(list)
	}
	return frontTable(e.Experiment, list).write(a.out, a.width(), a.bold)
}

// noFront says which objective has no value, or that no trial has all of them.
func (a *app) noFront(e *view.Recorded) error {
	for _, o := range e.Objectives() {
		if _, ok, err := e.Best(view.Query{Metric: o.Metric}); err == nil && !ok {
			return a.noValue(e, view.Query{Metric: o.Metric})
		}
	}
	return fmt.Errorf("%s: no trial has reported finite values of all objectives", e.Place())
}

func (a *app) curve(e *view.Recorded, q view.Query, asJSON bool) error {
	steps, err := e.Curve(q)
	switch {
	case err != nil:
		return asUsage(err)
	case len(steps) == 0:
		return a.noValue(e, q)
	}
	if e.Repeated() {
		fmt.Fprintln(a.err, "note: these are results of single runs; `tunehost best` without --curve compares the "+
			"means of runs")
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
