package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/report/terminal"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) watchCommand() *cobra.Command {
	every := time.Second
	cmd := &cobra.Command{
		Use:   "watch DIR",
		Short: "Follow an experiment until it ends",
		Long: `Follow an experiment until it ends: on a terminal its status and trials, redrawn in
place, else a line whenever something has changed. Ctrl-C ends the watching, not
the experiment.`,
		Example: "  tunehost watch results/digits",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if every <= 0 {
				return usage("watch: --every %v: expected more than 0s", every)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return a.withHere(args[0], "only there it can be followed", func(e *view.Experiment) error { return a.watch(ctx, e, every) })
		},
	}
	cmd.Flags().DurationVar(&every, "every", every, "time between looks")
	return cmd
}

func (a *app) watch(ctx context.Context, e *view.Experiment, every time.Duration) error {
	look := time.NewTicker(every)
	defer look.Stop()
	p := terminal.New(&looked{e, a.now}, a.display())
	for changed := true; e.State() == view.Running; {
		if changed || a.terminal() {
			p.Draw()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
		var err error
		if changed, err = e.Refresh(); err != nil {
			return err
		}
	}
	return p.Close()
}

// display is what is known of where the output goes.
func (a *app) display() terminal.Options {
	if f, ok := a.screen.(*os.File); ok {
		return terminal.Detect(f, terminal.Brief, a.lookup)
	}
	return terminal.Options{Out: a.screen, Verbosity: terminal.Brief}
}

// looked shows an experiment that is looked at from outside.
type looked struct {
	e   *view.Experiment
	now func() time.Time
}

// Status implements terminal.Source.
func (l *looked) Status() report.Status {
	m := l.e.Machine()
	s, err := l.e.Status(l.now())
	st := report.Status{NeverStarted: s.NeverStarted, Paused: s.Paused, Ending: s.Ending,
		Grace: l.e.Config().StopGrace, Name: s.Name, Dir: s.Dir, State: s.State, Cause: s.Cause, Counts: s.Counts,
		Planned: s.Planned,
		Made:    m.Planned(), Objective: l.e.Objectives()[0], Resources: s.Resources, Elapsed: s.Elapsed}
	if err != nil {
		st.NoBest = err.Error()
	}
	if s.Paused && s.State == view.Running {
		st.Hint = "`tunehost unpause " + shellWord(s.Dir) + "` goes on"
	}
	if s.Best != nil {
		t := &s.Best.Trial
		st.Best = &report.Best{Value: s.Best.Value,
			Trial: report.Trial{Number: t.Number, ID: t.ID, Dir: t.Dir, State: t.State, Params: t.Params}}
	}
	return st
}

// Rows implements terminal.Source: of the trials that run or wait the first, of
// the others the last.
func (l *looked) Rows(perState int) (rows []terminal.Row) {
	m := l.e.Machine()
	taken := map[core.State]int{}
	add := func(no core.TrialNo, first bool) {
		s := m.State(no)
		if first == (s == core.Running || s == core.Pending) && taken[s] < perState {
			taken[s]++
			rows = append(rows, l.row(no))
		}
	}
	n := core.TrialNo(m.Trials())
	for i := range n {
		add(i, true)
		add(n-1-i, false)
	}
	return rows
}

func (l *looked) row(no core.TrialNo) terminal.Row {
	t := l.e.Trial(no)
	r := terminal.Row{Number: no, State: t.State, Params: t.Params, Iteration: t.Iteration, Time: time.Duration(t.Seconds * float64(time.Second))}
	r.Value, r.Reported = t.Metric(l.e.Objectives()[0].Metric)
	return r
}
