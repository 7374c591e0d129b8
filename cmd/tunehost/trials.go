package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/naming"
	"github.com/tunehost/tunehost/host/view"
)

// listing says which trials are printed, and how.
type listing struct {
	sort, where   string
	asJSON, asCSV bool
}

func (a *app) trialsCommand() *cobra.Command {
	var l listing
	cmd := &cobra.Command{
		Use:   "trials DIR",
		Short: "All trials of an experiment as a table",
		Long: `All trials of an experiment with their parameters and the metrics of their last
result.

--sort takes an objective (the best first), or another metric, a parameter, number, state,
iteration, results, failures, started, ended or time (the least first); with a - before it
the other way round (--sort=-loss).
--where takes an expression over parameters, metrics and number, trial, state,
iteration, results, failures, error, reason, cause (the kind of reason, as in --json).`,
		Example: `  tunehost trials results/digits --sort accuracy
  tunehost trials results/digits --where "state == 'ERROR' || lr > 0.1" --csv`,
		Args: wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if l.asJSON && l.asCSV {
				return usage("trials: --json and --csv: choose one of them")
			}
			return a.with(args[0], func(e *view.Experiment) error { return a.trials(e, &l) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&l.sort, "sort", "", "order by a `METRIC` or something else; -METRIC is the other way round")
	flags.StringVar(&l.where, "where", "", "only trials for which `EXPR` holds")
	jsonFlag(flags, &l.asJSON, "print one JSON object a line for each trial")
	flags.BoolVar(&l.asCSV, "csv", false, "print comma-separated values with a heading")
	return cmd
}

func (a *app) trials(e *view.Experiment, l *listing) error {
	list, err := e.Select(l.where, l.sort)
	switch {
	case err != nil:
		return asUsage(err)
	case l.asJSON:
		return a.trialLines(list)
	case l.asCSV:
		return a.trialCSV(e, list)
	case len(list) == 0 && l.where != "" && e.Machine().Trials() > 0:
		a.say("no trial fits %s", l.where)
		return nil
	case len(list) == 0:
		a.say("no trials yet")
		return nil
	}
	return trialTable(e, list).write(a.out, a.width(), a.bold)
}

func (a *app) trialLines(list []view.Trial) error {
	for i := range list {
		if err := a.line(list[i]); err != nil {
			return err
		}
	}
	return nil
}

// trialTable has what varies between trials.
func trialTable(e *view.Experiment, list []view.Trial) *table {
	t := &table{}
	t.column("#", true)
	t.column("trial", false)
	if repeated(e) {
		t.column("suggestion", true)
	}
	t.column("state", false)
	var params, metrics []string
	for _, o := range e.Objectives() {
		metrics = append(metrics, o.Metric)
		t.column(o.Metric, true)
	}
	t.column("iter", true)
	t.column("time", true)
	for i := range e.Config().Space.Params {
		p := &e.Config().Space.Params[i]
		params = append(params, p.Name)
		t.detail(p.Name, len(p.Choices) == 0)
	}
	for i := range e.Config().Derived {
		params = append(params, e.Config().Derived[i].Name)
		t.detail(e.Config().Derived[i].Name, true)
	}
	t.column("why", false)
	for i := range list {
		t.rows = append(t.rows, trialRow(e, &list[i], params, metrics))
	}
	return t
}

// repeated: suggestions have several runs, so that it is worth saying which one a
// trial is of.
func repeated(e *view.Experiment) bool {
	_, runs := e.Machine().Runs(0)
	return runs > 1
}

func trialRow(e *view.Experiment, t *view.Trial, params, metrics []string) []string {
	row := []string{fmt.Sprint(t.Number), t.ID}
	if repeated(e) {
		row = append(row, fmt.Sprint(t.Suggestion))
	}
	row = append(row, t.State.String())
	for _, name := range metrics {
		if v, ok := t.Metric(name); ok {
			row = append(row, number(v))
		} else {
			row = append(row, "-")
		}
	}
	row = append(row, fmt.Sprint(t.Iteration), seconds(t.Seconds))
	values := e.Config().Values(t.Params)
	for _, name := range params {
		if v, ok := values[name]; ok {
			row = append(row, naming.Brief(v))
		} else {
			row = append(row, "-")
		}
	}
	return append(row, why(t))
}

// why is the reason as far as it says something.
func why(t *view.Trial) string {
	if t.State == core.Terminated && t.Cause.Kind == core.CauseCompleted || t.State == core.Running {
		return ""
	}
	if t.NeverStarted {
		return "never started: " + firstLine(t.Reason)
	}
	return firstLine(t.Reason)
}

// trialCSV has a column for each parameter and each metric.
func (a *app) trialCSV(e *view.Experiment, list []view.Trial) error {
	w := csv.NewWriter(a.out)
	head := []string{"trial", "number", "state", "iteration", "results", "failures", "time_total_s", "started", "ended"}
	if repeated(e) {
		head = append(head, "suggestion")
	}
	for _, name := range e.ParamNames() {
		head = append(head, "params/"+name)
	}
	for _, name := range e.MetricNames() {
		head = append(head, "metrics/"+name)
	}
	if err := w.Write(append(head, "error", "reason", "dir", "checkpoint", "never_started")); err != nil {
		return err
	}
	for i := range list {
		if err := w.Write(csvRow(e, &list[i])); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func csvRow(e *view.Experiment, t *view.Trial) []string {
	row := []string{t.ID, fmt.Sprint(t.Number), t.State.String(), fmt.Sprint(t.Iteration), fmt.Sprint(t.Results),
		fmt.Sprint(t.Failures), exact(t.Seconds), stamp(t.Started), stamp(t.Ended)}
	if repeated(e) {
		row = append(row, fmt.Sprint(t.Suggestion))
	}
	values := e.Config().Values(t.Params)
	for _, name := range e.ParamNames() {
		v, ok := values[name]
		row = append(row, csvValue(v, ok))
	}
	for _, name := range e.MetricNames() {
		v, ok := t.Metric(name)
		row = append(row, csvValue(v, ok))
	}
	return append(row, t.Error, t.Reason, t.Dir, t.Checkpoint, fmt.Sprint(t.NeverStarted))
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func csvValue(v any, ok bool) string {
	switch v := v.(type) {
	case nil:
		if ok {
			return "null"
		}
		return ""
	case float64:
		if ok {
			return exact(v)
		}
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
