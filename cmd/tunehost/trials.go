package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

// listing selects and formats the trials to print.
type listing struct {
	view.Chosen
	states        []string
	asJSON, asCSV bool
}

// check checks the flags.
func (l *listing) check() error {
	switch {
	case l.asJSON && l.asCSV:
		return usage("trials: --json and --csv: choose one of them")
	case l.Offset < 0:
		return usage("trials: --offset %d: expected 0 or more", l.Offset)
	case l.Limit < 0:
		return usage("trials: --limit %d: expected 1 or more, or 0 for all", l.Limit)
	}
	for _, name := range l.states {
		state, err := parseState(name)
		if err != nil {
			return err
		}
		l.States = append(l.States, state)
	}
	return nil
}

// parseState reads the name of a state, in upper or lower case.
func parseState(name string) (core.State, error) {
	var names []string
	for _, state := range view.States {
		if strings.EqualFold(name, state.String()) {
			return state, nil
		}
		names = append(names, state.String())
	}
	return 0, usage("trials: --state %q: expected %s%s", untrusted.Line(name, briefBytes), strings.Join(names, ", "),
		nearest.Hint(strings.ToUpper(name), names))
}

// filter describes which trials were selected.
func (l *listing) filter() string {
	if l.Where == "" {
		return "--state " + strings.Join(l.states, ",")
	}
	return untrusted.Line(firstLine(l.Where), briefBytes)
}

// briefBytes is how much of what the user typed a message repeats.
const briefBytes = 160

func (a *app) trialsCommand() *cobra.Command {
	var l listing
	cmd := &cobra.Command{
		Use:   "trials DIR",
		Short: "Show all trials of an experiment as a table",
		Long: `Show all trials of an experiment as a table, with their parameters and the metrics of
their last result.

--sort takes an objective (the best trial comes first), or another metric, a parameter,
number, state, iteration, results, failures, started, ended, time, attempts, node or cause
(the smallest value comes first). A - before the name reverses the order: --sort=-loss.

--where takes an expression over parameters, metrics, number, trial, state, iteration,
results, failures, error, reason and cause (the kind of reason, as in --json). Where a metric
shares its name with a parameter, or with one of these, metrics.NAME is the metric.`,
		Example: `  tunehost trials results/digits --sort accuracy
  tunehost trials results/digits --sort accuracy --limit 10
  tunehost trials results/digits --state ERROR,PAUSED
  tunehost trials results/digits --where "state == 'ERROR' || lr > 0.1" --csv`,
		Args: wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			return a.with(args[0], func(e *view.Recorded) error { return a.trials(e, &l) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&l.Sort, "sort", "", "sort by a `METRIC` or another key; -METRIC reverses the order")
	flags.StringVar(&l.Where, "where", "", "show only trials for which `EXPR` is true")
	flags.StringSliceVar(&l.states, "state", nil, "show only trials in one of these `STATES`, such as RUNNING,ERROR")
	flags.IntVar(&l.Offset, "offset", 0, "skip the first `COUNT` trials")
	flags.IntVar(&l.Limit, "limit", 0, "show at most `COUNT` trials; 0: all")
	jsonFlag(flags, &l.asJSON, "print one JSON object a line for each trial")
	flags.BoolVar(&l.asCSV, "csv", false, "print comma-separated values with a heading")
	return cmd
}

func (a *app) trials(e *view.Recorded, l *listing) error {
	page, err := e.Choose(l.Chosen)
	switch {
	case err != nil:
		return asUsage(err)
	case l.asJSON:
		return page.Each(func(t *view.Trial) error { return a.line(t) })
	case l.asCSV:
		return a.trialCSV(e, page)
	case page.Total == 0:
		a.say("no trials yet")
		return nil
	case page.Fitting == 0:
		a.say("no trial matches %s", l.filter())
		return nil
	case len(page.Numbers) == 0:
		a.say("there are only %s", plural(page.Fitting, "trial"))
		return nil
	}
	list, err := page.Trials()
	if err != nil {
		return err
	}
	if err := trialTable(e.Experiment, list).write(a.out, a.width(), a.bold); err != nil {
		return err
	}
	if more := page.Fitting - l.Offset - len(list); more > 0 {
		a.say("… %d more; --offset %d shows them", more, l.Offset+len(list))
	}
	note, err := e.NotFinite()
	if note != "" {
		a.say("note: %s", note)
	}
	return err
}

func (a *app) trialLines(list []view.Trial) error {
	for i := range list {
		if err := a.line(list[i]); err != nil {
			return err
		}
	}
	return nil
}

// trialTable has the columns that vary between trials.
func trialTable(e *view.Experiment, list []view.Trial) *table {
	t := &table{}
	t.column("#", true)
	t.column("trial", false)
	if e.Repeated() {
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
	for i := range e.Config.Space.Params {
		p := &e.Config.Space.Params[i]
		params = append(params, p.Name)
		t.detail(p.Name, len(p.Choices) == 0)
	}
	for i := range e.Config.Derived {
		params = append(params, e.Config.Derived[i].Name)
		t.detail(e.Config.Derived[i].Name, true)
	}
	t.prose("why")
	told := tellersOf(e)
	for i := range list {
		t.rows = append(t.rows, trialRow(e, &list[i], told, params, metrics))
	}
	return t
}

// frontTable is trialTable with as many digits as tell the members of a front apart.
func frontTable(e *view.Experiment, list []view.Trial) *table {
	t := trialTable(e, list)
	first := slices.Index(t.head, "state") + 1
	for i, o := range e.Objectives() {
		var values []float64
		for k := range list {
			v, _ := list[k].Metric(o.Metric)
			values = append(values, v)
		}
		for k, text := range apart(values) {
			t.rows[k][first+i] = text
		}
	}
	return t
}

func trialRow(e *view.Experiment, t *view.Trial, told tellers, params, metrics []string) []string {
	row := []string{fmt.Sprint(t.Number), t.ID}
	if e.Repeated() {
		row = append(row, fmt.Sprint(t.Suggestion))
	}
	row = append(row, t.Condition())
	for _, name := range metrics {
		if v, ok := t.Metric(name); ok {
			row = append(row, number(v))
		} else {
			row = append(row, "-")
		}
	}
	row = append(row, fmt.Sprint(t.Iteration), seconds(t.Seconds))
	values := e.Config.Values(t.Params)
	for _, name := range params {
		if v, ok := values[name]; ok {
			row = append(row, told.Text(name, v))
		} else {
			row = append(row, "-")
		}
	}
	return append(row, why(t))
}

// why returns the reason, if it says more than the state.
func why(t *view.Trial) string {
	if t.State == core.Terminated && t.Cause.Kind == core.CauseCompleted || t.State == core.Running {
		return ""
	}
	text := firstLine(t.Reason)
	if t.NeverStarted {
		text = "never started: " + text
	}
	return untrusted.Ends(text, untrusted.MaxReason) // error.txt and --json have all of it
}

// trialCSV has a column for each parameter and each metric.
func (a *app) trialCSV(e *view.Recorded, page *view.Page) error {
	w := csv.NewWriter(a.out)
	head := []string{"trial", "number", "state", "iteration", "results", "failures", "time_total_s", "started", "ended"}
	if e.Repeated() {
		head = append(head, "suggestion")
	}
	for _, name := range e.ParamNames() {
		head = append(head, "params/"+name)
	}
	for _, name := range e.MetricNames() {
		head = append(head, "metrics/"+name)
	}
	head = append(head, "error", "reason", "dir", "checkpoint", "never_started", "was_running", "stopped_early",
		"attempts", "node", "cause", "checkpoint_iteration")
	if err := w.Write(head); err != nil {
		return err
	}
	metrics := e.MetricNames()
	if err := page.Each(func(t *view.Trial) error { return w.Write(csvRow(e.Experiment, t, metrics)) }); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

func csvRow(e *view.Experiment, t *view.Trial, metrics []string) []string {
	row := []string{t.ID, fmt.Sprint(t.Number), t.State.String(), fmt.Sprint(t.Iteration), fmt.Sprint(t.Results),
		fmt.Sprint(t.Failures), exact(t.Seconds), stamp(t.Started), stamp(t.Ended)}
	if e.Repeated() {
		row = append(row, fmt.Sprint(t.Suggestion))
	}
	values := e.Config.Values(t.Params)
	for _, name := range e.ParamNames() {
		v, ok := values[name]
		row = append(row, csvValue(v, ok))
	}
	for _, name := range metrics {
		v, ok := t.Metric(name)
		row = append(row, csvValue(v, ok))
	}
	cause, at := "", ""
	if t.Cause.Kind != core.CauseNone {
		cause = t.Cause.Kind.String()
	}
	if t.Checkpoint != "" {
		at = fmt.Sprint(t.CheckpointAt)
	}
	return append(row, untrusted.Cell(t.Error), untrusted.Cell(t.Reason), t.Dir, t.Checkpoint,
		fmt.Sprint(t.NeverStarted), fmt.Sprint(t.WasRunning), fmt.Sprint(t.StoppedEarly),
		fmt.Sprint(t.Attempt), untrusted.Cell(t.Node), cause, at)
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
		return untrusted.Cell(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
