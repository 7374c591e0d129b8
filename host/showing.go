package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/control"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/report/jsonlines"
	"github.com/tunehost/tunehost/host/report/terminal"
)

// reporters are those of the experiment file, and what shows the progress.
func (s *session) reporters() ([]*reporting, error) {
	formats, err := formatsOf(s.experiment)
	if err != nil {
		return nil, err
	}
	written := files.New(files.Options{Dir: s.dir.Path(), Formats: formats, Now: s.clock.Now})
	list := []*reporting{s.reporting("files", written, s.reported)}
	switch {
	case s.options.manual: // standard output is the caller's
	case s.options.JSON:
		list = append(list, s.reporting("json", jsonlines.New(s.options.Stdout), s.toldBefore))
	case s.options.Verbose > 0:
		s.progress = s.newProgress()
		list = append(list, s.reporting("progress", s.progress, s.toldBefore))
	}
	return list, nil
}

func (s *session) reporting(name string, r report.Reporter, after uint64) *reporting {
	return &reporting{name: name, reporter: r, after: after, log: s.log, work: newQueue[[]report.Event](), done: make(chan struct{})}
}

// formatsOf are the files that results are written to.
func formatsOf(e *config.Experiment) (list []files.Format, err error) {
	for _, ref := range e.Reporters {
		f, ok := files.ParseFormat(ref.Name)
		if !ok {
			known := []string{"jsonl", "csv"}
			return nil, &UserError{&config.Error{Pos: ref.Pos, Msg: fmt.Sprintf("there is no reporter %q; there are %s%s", ref.Name, strings.Join(known, ", "), nearest.Hint(ref.Name, known))}}
		}
		list = append(list, f)
	}
	return list, nil
}

// newProgress shows the board on the terminal; warnings go past its table.
func (s *session) newProgress() *terminal.Progress {
	o := terminal.Options{Out: s.options.Stdout, Verbosity: terminal.Verbosity(s.options.Verbose)}
	if f, ok := s.options.Stdout.(*os.File); ok {
		o = terminal.Detect(f, terminal.Verbosity(s.options.Verbose), os.LookupEnv)
	}
	p := terminal.New(s.board, o)
	if o.Terminal {
		s.screen.to(p)
	}
	return p
}

// draw redraws the progress until the context ends.
func (s *session) draw(ctx context.Context) {
	if s.progress == nil {
		return
	}
	ticks := time.NewTicker(s.progress.Every())
	defer ticks.Stop()
	s.progress.Run(ctx, ticks.C)
}

// sumUp is the last word (B-123).
func (s *session) sumUp() {
	if s.options.JSON || s.options.Verbose == 0 {
		return
	}
	s.board.write(true)
	end := terminal.End{Status: s.board.Status(), Dir: s.shortDir(), File: s.options.File, Args: s.options.args()}
	if f, ok := s.options.Stdout.(*os.File); ok {
		end.Color = terminal.Detect(f, terminal.Brief, os.LookupEnv).Color
	}
	for no := range core.TrialNo(s.machine.Trials()) {
		if s.machine.State(no) == core.Errored && len(end.Failed) < maxFailedShown {
			end.Failed = append(end.Failed, s.trials.report(no))
		}
	}
	if err := terminal.Summary(s.options.Stdout, end); err != nil {
		s.log.Debug(err.Error())
	}
}

// args are the flags without which the file means another experiment.
func (o *Options) args() (list []string) {
	for _, set := range o.Sets {
		list = append(list, "--set", set)
	}
	if o.Storage != "" {
		list = append(list, "--storage", o.Storage)
	}
	if o.Name != "" {
		list = append(list, "--name", o.Name)
	}
	if o.Resources != "" {
		list = append(list, "--resources", o.Resources)
	}
	return list
}

const maxFailedShown = 100

// shortDir is the directory as the user would type it.
func (s *session) shortDir() string {
	here, err := os.Getwd()
	if err != nil {
		return s.dir.Path()
	}
	rel, err := filepath.Rel(here, s.dir.Path())
	if err != nil || strings.HasPrefix(rel, "..") {
		return s.dir.Path()
	}
	return rel
}

// listen lets other commands steer this host. An experiment runs without it, too.
func (s *session) listen(over <-chan struct{}) (stop func()) {
	l, remove, err := control.Listen()
	if err != nil {
		s.log.Warn("this experiment cannot be steered by other commands: " + err.Error())
		return func() {}
	}
	hide, err := control.Announce(s.dir, l)
	if err != nil {
		s.log.Warn("this experiment cannot be steered by other commands: " + err.Error())
		hide = func() {}
	}
	served := make(chan error, 1)
	go func() { served <- control.Serve(l, &steering{s, over}) }()
	return func() {
		hide()
		err := errors.Join(l.Close(), <-served)
		remove()
		if err != nil {
			s.log.Debug(err.Error())
		}
	}
}
