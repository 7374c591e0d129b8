package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/curves"
	"github.com/tunehost/tunehost/host/expr"
	"github.com/tunehost/tunehost/host/naming"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// simulating is what the command line of simulate says.
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
		Long: `Run an experiment on recorded curves, in virtual time: its searcher and scheduler
decide as they would, but trials report what a table says, at once. It shows in
seconds what another scheduler, or another number of workers, would have saved.

--table takes a file of JSON lines, one for each configuration that was trained
(it may be compressed with gzip):

  {"params": {"lr": 0.1}, "metrics": {"loss": [0.9, 0.5]}, "seconds": [1.2, 2.3]}

--from takes an experiment that has run: its trials come in the same order, and
report what they reported. Without FILE it is that experiment with other settings.

Plugins that do not come with tunehost are started only with --trust.`,
		Example: `  tunehost simulate digits.yaml --table curves.jsonl.gz --workers 4
  tunehost simulate --from results/digits --set 'scheduler={plugin: median}'`,
		Args: wants(0, 1),
		RunE: func(_ *cobra.Command, args []string) error { return a.simulate(args, &s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&s.table, "table", "", "recorded curves: a `FILE` of JSON lines")
	flags.StringVar(&s.from, "from", "", "an experiment's `DIR` instead of a table")
	flags.IntVar(&s.workers, "workers", 0, "how many trials train at a time, `N`; 0: as the file's resources allow")
	flags.StringVar(&s.options.Resources, "resources", "", "what the virtual machine offers, as `cpu=16,gpu=2`")
	flags.StringArrayVar(&s.options.Sets, "set", nil, "override a key of the file, as `KEY=VALUE`; may be repeated")
	trustFlag(flags, &s.options.Trust)
	jsonFlag(flags, &s.asJSON, "print a JSON object")
	return cmd
}

func (a *app) simulate(args []string, s *simulating) error {
	switch {
	case (s.table == "") == (s.from == ""):
		return usage("simulate: say either --table T or --from DIR: where the curves are")
	case len(args) == 0 && s.from == "":
		return usage("simulate: name the experiment file")
	case s.workers < 0:
		return usage("simulate: --workers is %d; it must not be negative", s.workers)
	}
	s.options.Plugins, s.options.Stderr, s.options.Verbose = plugins, a.err, 1
	if len(args) > 0 {
		s.options.File = args[0]
	}
	if a.env["GOGC"] == "" {
		debug.SetGCPercent(400) // short-lived, and most of what it makes is garbage at once
	}
	var end host.Simulated
	began := time.Now()
	_, err := a.untilSignalled(host.NewExit(a.err), func(ctx context.Context) (_ host.Ended, err error) {
		end, err = s.run(ctx, a)
		return host.Ended{}, err
	})
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

func (s *simulating) run(ctx context.Context, a *app) (end host.Simulated, err error) {
	if s.from != "" {
		err = a.fetched(s.from, func(at string, _ bool) (err error) {
			end, err = host.Backtest(ctx, at, s.options, s.workers)
			return err
		})
		return end, err
	}
	return host.Simulate(ctx, s.options, func(sp *space.Space) (*curves.Table, error) { return curves.Load(s.table, sp) }, s.workers)
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
	Best    *simulatedBest `json:"best"`
	Curve   []view.Step    `json:"curve"`
	Took    float64        `json:"took_s"`
}

type simulatedBest struct {
	Trial  string          `json:"trial"`
	Number core.TrialNo    `json:"number"`
	Value  view.Float      `json:"value"`
	Params json.RawMessage `json:"params"`
}

func simulatedJSON(s *host.Simulated, took time.Duration) simulatedShape {
	shape := simulatedShape{State: s.Outcome.String(), Reason: s.Reason, Seed: s.Seed, Trials: s.Trials, Counts: map[string]int{}, Results: s.Results,
		Elapsed: view.Float(s.Seconds), Trained: view.Float(s.Trained), Whole: view.Float(s.Whole),
		Cut: s.Cut, Curve: s.Curve, Took: took.Seconds()}
	for state, n := range s.States {
		shape.Counts[state.String()] = n
	}
	if b := s.Best; b != nil {
		shape.Best = &simulatedBest{b.Trial, b.Number, view.Float(b.Value), b.Params}
	}
	return shape
}

func (a *app) simulated(s *host.Simulated, took time.Duration) error {
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
		row("trained", fmt.Sprintf("%s, %.0f %% of what all trials to their end would take", seconds(s.Trained), 100*s.Trained/s.Whole))
	}
	if b := s.Best; b != nil {
		row("best", fmt.Sprintf("%s by trial %d (%s)", number(b.Value), b.Number, brief(b.Params)))
		last := s.Curve[len(s.Curve)-1]
		row("", fmt.Sprintf("best value of all, %s, after %s", number(float64(last.Value)), seconds(float64(last.Seconds))))
	}
	if s.Cut > 0 {
		row("unknown", fmt.Sprintf("%d trials came to the end of what was recorded of them, and would have gone on", s.Cut))
	}
	if s.Failure != "" {
		row("failed", fmt.Sprintf("%s; the first says: %s", plural(s.States[core.Errored], "trial"), firstLine(s.Failure)))
	}
	row("seed", fmt.Sprint(s.Seed))
	return t.write(a.out, 0, a.bold)
}

func (a *app) countsOf(s *host.Simulated) string {
	var parts []string
	for _, state := range view.States {
		if n := s.States[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ToLower(state.String())))
		}
	}
	return fmt.Sprintf("%d: %s", s.Trials, strings.Join(parts, ", "))
}

// brief is parameters on one line.
func brief(params []byte) string {
	values, err := expr.FromJSON(params)
	if err != nil {
		return string(params)
	}
	return naming.Brief(values)
}
