package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host/report/terminal"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) watchCommand() *cobra.Command {
	every := time.Second
	cmd := &cobra.Command{
		Use:   "watch DIR",
		Short: "Follow an experiment until it ends",
		Long: `Follow an experiment until it ends. On a terminal its status and trials are redrawn in
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
			return a.withHere(args[0], "it can be followed only there",
				func(e *view.Recorded) error { return a.watch(ctx, e, every) })
		},
	}
	cmd.Flags().DurationVar(&every, "every", every, "time between updates")
	return cmd
}

func (a *app) watch(ctx context.Context, e *view.Recorded, every time.Duration) error {
	look := time.NewTicker(every)
	defer look.Stop()
	shown := a.display()
	shown.Choices = naming.TellersOf(e.Config)
	p := terminal.New(&watched{e, a.now}, shown)
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

// display returns the properties of the output.
func (a *app) display() terminal.Options {
	if f, ok := a.screen.(*os.File); ok {
		return terminal.Detect(f, terminal.Brief, a.lookup)
	}
	return terminal.Options{Out: a.screen, Verbosity: terminal.Brief}
}

// watched is an experiment that is read from outside its host.
type watched struct {
	e   *view.Recorded
	now func() time.Time
}

// Status implements terminal.Source.
func (w *watched) Status() view.Status {
	s, err := w.e.Status(w.now())
	if err != nil {
		s.NoBest = err.Error()
	}
	if s.Paused && s.State == view.Running {
		s.Hint = "`tunehost unpause " + untrusted.Word(s.Dir) + "` continues"
	}
	return s
}

// Events implements terminal.Source: watching shows no events.
func (w *watched) Events() []view.Event { return nil }

// Rows implements terminal.Source.
func (w *watched) Rows(perState int) []view.Trial { return w.e.Rows(perState) }
