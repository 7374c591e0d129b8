package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/simulate"
	"github.com/tunehost/tunehost/host/simulate/curves"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// simulating has the command line of simulate.
type simulating struct {
	options     host.Options
	table, from string
	workers     int
	asJSON      bool
}

func (a *app) simulateCommand() *cobra.Command {
	var s simulating
	cmd := &cobra.Command{
		Use:   "simulate [FILE] {--table T | --from DIR}",
		Short: "Run an experiment on recorded curves, in virtual time",
		Long: `Run an experiment on recorded curves, in virtual time. The searcher and the scheduler
decide as in a real run, but trials are not trained: they report recorded values. This
shows in seconds how much another scheduler, or another number of workers, would save.

--table takes a file of JSON lines, one for each trained configuration (it may be
compressed with gzip). seconds is the training time so far at each report; without it, an
iteration takes a second:

  {"params": {"lr": 0.1}, "metrics": {"loss": [0.9, 0.5]}, "seconds": [1.2, 2.3]}

A trial with parameters that are not in the table reports the curve of those nearest to
them, and the output says how many did.

--from takes the directory of an experiment: its trials come in the same order and report
the same values, whatever searcher and number of trials FILE names. Without FILE, the
settings are those of that experiment. The output says how much training that would have
saved, and whether the best recorded trial was kept. A trial that was retried reports what
counts of it after all its attempts; it is not retried again. The space must be that of the record.
What a trial would have done after it was stopped is not known, and neither is what a
scheduler such as pbt changed: its trials are simulated up to their first change.

Plugins that do not come with tunehost are started only with --trust.`,
		Example: `  tunehost simulate digits.yaml --table curves.jsonl.gz --workers 4
  tunehost simulate --from results/digits --set scheduler=auto`,
		Args: wants(0, 1),
		RunE: func(_ *cobra.Command, args []string) error { return a.simulate(args, &s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&s.table, "table", "", "read recorded curves from `FILE`, in JSON lines")
	flags.StringVar(&s.from, "from", "", "use the curves of the experiment in `DIR`")
	flags.IntVar(&s.workers, "workers", 0,
		"train `N` trials at a time, instead of the file's concurrency and resources; 0: as the file says")
	flags.StringVar(&s.options.Resources, "resources", "", "resources of the virtual machine, as `cpu=16,gpu=2`")
	setFlag(flags, &s.options)
	trustFlag(flags, &s.options.Trust)
	jsonFlag(flags, &s.asJSON, "print a JSON object")
	return cmd
}

func (a *app) simulate(args []string, s *simulating) error {
	switch {
	case (s.table == "") == (s.from == ""):
		return usage("simulate: expected either --table FILE or --from DIR")
	case len(args) == 0 && s.from == "":
		return usage("simulate: the experiment file is missing")
	case s.workers < 0:
		return usage("simulate: --workers is %d; it must not be negative", s.workers)
	}
	s.options.Plugins, s.options.Stderr, s.options.Verbose = plugins, a.err, 1
	if !s.asJSON {
		s.options.Waits = a.waiting.on
	}
	if len(args) > 0 {
		s.options.File = args[0]
	}
	var end simulate.Result
	began := time.Now()
	_, err := a.untilSignalled(host.NewExit(a.err), func(ctx context.Context) (_ host.Ended, err error) {
		end, err = s.run(ctx, a)
		return host.Ended{}, err
	})
	a.waiting.on("")
	switch {
	case err != nil:
		return err
	case s.asJSON:
		err = a.line(simulatedJSON(&end, time.Since(began)))
	default:
		err = a.simulated(&end, time.Since(began))
	}
	if err == nil && end.Outcome == core.Failed {
		err = fmt.Errorf("the simulation failed: %s", end.Reason)
	}
	return err
}

func (s *simulating) run(ctx context.Context, a *app) (end simulate.Result, err error) {
	if s.from != "" {
		err = a.fetched(s.from, func(at string, _ bool) (err error) {
			end, err = a.engine.backtest(ctx, at, s.options, s.workers)
			return err
		})
		return end, err
	}
	return simulate.Run(ctx, s.options, func(sp *space.Space) (*curves.Table,
		error) {
		return curves.Load(s.table, sp)
	}, s.workers)
}

// simulatedShape is what `simulate --json` prints; fields are added, never renamed.
type simulatedShape struct {
	State   string         `json:"state"`
	Reason  string         `json:"reason"`
	Seed    uint64         `json:"seed"`
	Trials  int            `json:"trials"`
	Counts  map[string]int `json:"counts"`
	Results uint64         `json:"results"`
	Elapsed view.Float     `json:"elapsed_s"`
	Trained view.Float     `json:"trained_s"`
	Whole   view.Float     `json:"whole_s"`
	Cut     int            `json:"cut"`
	Near    int            `json:"near"`
	Best    *simulatedBest `json:"best"`
	Curve   []view.Step    `json:"curve"`
	// Record is null for a table.
	Record *recordShape `json:"record"`
	Took   float64      `json:"took_s"`
}

type simulatedBest struct {
	Trial  string          `json:"trial"`
	Number core.TrialNo    `json:"number"`
	Value  view.Float      `json:"value"`
	Params json.RawMessage `json:"params"`
}

// recordShape compares a simulation with the record that it was made of.
type recordShape struct {
	Iterations uint64         `json:"iterations"`
	Seconds    view.Float     `json:"seconds"`
	Trained    uint64         `json:"trained_iterations"`
	Changed    int            `json:"changed"`
	LeftOut    int            `json:"left_out"`
	Failed     int            `json:"left_out_failed"`
	Repeats    bool           `json:"repeats"`
	Best       *recordedShape `json:"best"`
}

type recordedShape struct {
	Number     core.TrialNo `json:"number"`
	Value      view.Float   `json:"value"`
	Iterations uint64       `json:"iterations"`
	Reached    uint64       `json:"reached"`
	Kept       bool         `json:"kept"`
	Reason     string       `json:"reason"`
}

func recordJSON(r *simulate.Record) *recordShape {
	if r == nil {
		return nil
	}
	shape := &recordShape{Iterations: r.Iterations, Seconds: view.Float(r.Seconds), Trained: r.Trained,
		Changed: r.Changed, LeftOut: r.LeftOut, Failed: r.LeftOutFailed, Repeats: r.Repeats}
	if b := r.Best; b != nil {
		shape.Best = &recordedShape{b.Number, view.Float(b.Value), b.Iterations, b.Reached, b.Kept(), b.Reason}
	}
	return shape
}

func simulatedJSON(s *simulate.Result, took time.Duration) simulatedShape {
	shape := simulatedShape{State: s.Outcome.String(), Reason: s.Reason, Seed: s.Seed, Trials: s.Trials,
		Counts: map[string]int{}, Results: s.Results,
		Elapsed: view.Float(s.Seconds), Trained: view.Float(s.Trained), Whole: view.Float(s.Whole),
		Cut: s.Cut, Near: s.Near, Curve: s.Curve, Record: recordJSON(s.Record), Took: took.Seconds()}
	for state, n := range s.States {
		shape.Counts[state.String()] = n
	}
	if b := s.Best; b != nil {
		shape.Best = &simulatedBest{b.Trial, b.Number, view.Float(b.Value), b.Params}
	}
	return shape
}

func (a *app) simulated(s *simulate.Result, took time.Duration) error {
	state := s.Outcome.String()
	if s.Reason != "" && s.Outcome != core.Finished {
		state += ": " + s.Reason
	}
	a.say("%s", a.bold(fmt.Sprintf("simulated %s in %s · %s", seconds(s.Seconds), seconds(took.Seconds()), state)))
	t := &table{}
	t.column("", false)
	t.column("", false)
	row := func(name, text string) { t.rows = append(t.rows, []string{name, text}) }
	row("trials", a.countsOf(s))
	row("results", fmt.Sprint(s.Results))
	if s.Whole > 0 {
		row("trained", fmt.Sprintf("%s, %.0f %% of the time of their recorded curves", seconds(s.Trained),
			100*s.Trained/s.Whole))
	}
	if b := s.Best; b != nil {
		row("best", fmt.Sprintf("%s by trial %d (%s)%s", number(b.Value), b.Number, naming.BriefParams(b.Params),
			firstOf(s.Objectives)))
		last := s.Curve[len(s.Curve)-1]
		row("", fmt.Sprintf("best value at any iteration: %s, by trial %d at iteration %d, after %s",
			number(float64(last.Value)), last.Number, last.Iteration, seconds(float64(last.Seconds))))
	}
	if r := s.Record; r != nil && r.LeftOut > 0 {
		row("left out", leftOut(r))
	}
	if r := s.Record; r != nil && r.Iterations > 0 && s.Outcome != core.Failed {
		beside(r, s.Trained, firstOf(s.Objectives), row)
	}
	if s.Cut > 0 {
		row("unknown", fmt.Sprintf("%s reached the end of what was recorded and could not continue",
			plural(s.Cut, "trial")))
	}
	if s.Near > 0 && s.Record == nil {
		row("nearest", fmt.Sprintf("%s with parameters that are not in the table reported the curves of those nearest "+
			"to them", plural(s.Near, "trial")))
	}
	if s.Failure != "" {
		row("failed", fmt.Sprintf("%s; the first says: %s", plural(s.States[core.Errored], "trial"),
			firstLine(s.Failure)))
	}
	if s.Untimed > 0 {
		row("assumed", fmt.Sprintf("1s for each iteration of the %s in the table without seconds",
			plural(s.Untimed, "curve")))
	}
	row("seed", fmt.Sprint(s.Seed))
	return t.write(a.out, 0, a.bold)
}

// leftOut says which trials of the record are not simulated, and why.
func leftOut(r *simulate.Record) string {
	text := plural(r.LeftOut, "trial") + " of the record without any result"
	if r.LeftOutFailed > 0 {
		text += fmt.Sprintf(", of which %d failed", r.LeftOutFailed)
	}
	return text + ": no curve is known of them"
}

// beside prints what the simulation saved of what was recorded, and what became of the best trial.
func beside(r *simulate.Record, trained float64, by string, row func(name, text string)) {
	row("recorded", plural(int(r.Iterations), "iteration")+" in "+seconds(r.Seconds))
	if left, total := r.Trained, r.Iterations; left < total {
		row("saved", fmt.Sprintf("%s, %.0f %%, and %s of training", plural(int(total-left), "iteration"),
			100*float64(total-left)/float64(total), seconds(max(0, r.Seconds-trained))))
	} else {
		row("saved", "nothing")
	}
	switch b := r.Best; {
	case b == nil:
	case b.Kept():
		row("kept", fmt.Sprintf("the best recorded trial, %d (%s), to its end%s", b.Number, number(b.Value), by))
	default:
		row("lost", fmt.Sprintf("the best recorded trial, %d (%s), at iteration %d of %d: %s%s", b.Number,
			number(b.Value), b.Reached, b.Iterations, b.Reason, by))
	}
	if r.Repeats {
		row("runs", "each run of a suggestion is a trial here, compared by itself and not by the mean of its runs")
	}
	if r.Changed > 0 {
		row("in part", fmt.Sprintf("%s of the record continued with other parameters or from the checkpoint of "+
			"another; only what they did before is simulated", plural(r.Changed, "trial")))
	}
}

// firstOf says which objective a best trial is the best by, if there are others.
func firstOf(objectives []core.Objective) string {
	if len(objectives) < 2 {
		return ""
	}
	return fmt.Sprintf("; by %s, the first of %d objectives", objectives[0].Metric, len(objectives))
}

func (a *app) countsOf(s *simulate.Result) string {
	var parts []string
	for _, state := range view.States {
		if n := s.States[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ToLower(state.String())))
		}
	}
	return fmt.Sprintf("%d: %s", s.Trials, strings.Join(parts, ", "))
}
