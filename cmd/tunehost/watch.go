package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/analysis"
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
		RunE: func(cmd *cobra.Command, args []string) error {
			if every <= 0 {
				return usage("watch: --every %v: expected more than 0s", every)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return a.with(args[0], func(e *analysis.Experiment) error { return a.watch(ctx, e, every) })
		},
	}
	cmd.Flags().DurationVar(&every, "every", every, "time between looks")
	return cmd
}

func (a *app) watch(ctx context.Context, e *analysis.Experiment, every time.Duration) error {
	look := time.NewTicker(every)
	defer look.Stop()
	show := a.progressLine
	if a.terminal() {
		show = a.screen()
	}
	for changed := true; ; {
		if changed || a.terminal() {
			if err := show(e); err != nil {
				return err
			}
		}
		if e.State() != analysis.Running {
			return nil
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
}

func (a *app) progressLine(e *analysis.Experiment) error {
	s, err := e.Status(a.now())
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s  %s  %s  %s", s.Name, s.State, seconds(s.Elapsed.Seconds()), counts(&s))
	if s.Best != nil {
		text += fmt.Sprintf("  best %s %s (trial %d)", e.Objectives()[0].Metric, number(s.Best.Value), s.Best.Number)
	}
	a.say("%s", text)
	return nil
}

// screen redraws status and trials in place.
func (a *app) screen() func(*analysis.Experiment) error {
	drawn := 0
	return func(e *analysis.Experiment) error {
		s, err := e.Status(a.now())
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if drawn > 0 {
			fmt.Fprintf(&out, "\x1b[%dA\x1b[J", drawn)
		}
		from := out.Len()
		if err := a.writeStatus(&out, &s, e); err != nil {
			return err
		}
		_, height := a.size()
		used := bytes.Count(out.Bytes()[from:], []byte("\n"))
		if err := a.writeSome(&out, e, height-used-3); err != nil {
			return err
		}
		drawn = bytes.Count(out.Bytes()[from:], []byte("\n"))
		_, err = a.out.Write(out.Bytes())
		return err
	}
}

// watched is the order in which states are shown.
var watched = []core.State{core.Running, core.Paused, core.Errored, core.Terminated, core.Pending}

// writeSome shows so many trials that each state keeps rows, and says how many
// are left out (B-121).
func (a *app) writeSome(out *bytes.Buffer, e *analysis.Experiment, rows int) error {
	numbers := map[core.State][]core.TrialNo{}
	m := e.Machine()
	for no := core.TrialNo(m.Trials()); no > 0; no-- {
		numbers[m.State(no-1)] = append(numbers[m.State(no-1)], no-1)
	}
	share := shares(rows, func(s core.State) int { return len(numbers[s]) })
	var list []analysis.Trial
	left := ""
	for _, s := range watched {
		some := numbers[s][:share[s]]
		slices.Sort(some)
		for _, no := range some {
			list = append(list, e.Trial(no))
		}
		if n := len(numbers[s]) - share[s]; n > 0 {
			left += fmt.Sprintf(" … %d more %s", n, s)
		}
	}
	if err := trialTable(e, list).write(out, a.width(), a.bold); err != nil {
		return err
	}
	if left != "" {
		fmt.Fprintln(out, left)
	}
	return nil
}

// shares gives each state a row in turn, until there are no more.
func shares(rows int, have func(core.State) int) map[core.State]int {
	share := map[core.State]int{}
	for more := true; more && rows > 0; {
		more = false
		for _, s := range watched {
			if rows > 0 && share[s] < have(s) {
				share[s]++
				rows--
				more = true
			}
		}
	}
	return share
}
