// Package show shows an experiment at work on the terminal: its progress, and the summary at its
// end.
package show

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/report/terminal"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

// Options say what is shown.
type Options struct {
	User *options.Options
	// Dir and URL are where the experiment is; URL is "" where it is only here.
	Dir, URL string
	Board    *view.Board
	State    *view.State
	// Trial describes a trial that has ended.
	Trial func(core.TrialNo) view.Subject
	// Notes are settings without effect.
	Notes func() []string
	// OwnPlugins: the experiment uses plugins that are not bundled.
	OwnPlugins bool
	Log        *hostlog.Log
	Screen     *hostlog.Screen
}

// Show shows one experiment.
type Show struct {
	Options
	progress *terminal.Progress
	summed   sync.Once
}

// New returns a Show that has shown nothing yet.
func New(o Options) *Show { return &Show{Options: o} }

// Progresses reports whether the terminal shows the progress of a host with these options.
func Progresses(o *options.Options) bool { return !o.Mode.Manual && !o.JSON && o.Verbose > 0 }

// WantsEvents reports whether the terminal shows each result, too.
func WantsEvents(o *options.Options) bool { return o.Verbose >= int(terminal.Results) }

// Begin shows the board, and the events of news unless it is nil; warnings go past its table.
func (s *Show) Begin(news *view.Follower) {
	verbosity := terminal.Verbosity(s.User.Verbose)
	o := terminal.Options{Out: s.User.Stdout, Verbosity: verbosity}
	if f, ok := s.User.Stdout.(*os.File); ok {
		o = terminal.Detect(f, verbosity, os.LookupEnv)
	}
	o.FailureShown, o.Choices = true, s.choices()
	s.User.Await("")
	s.progress = terminal.New(&source{Board: s.Board, news: news, log: s.Log}, o)
	if o.Terminal {
		s.Screen.To(s.progress)
		s.User.Exit.Shows()
	}
}

func (s *Show) choices() naming.Tellers { return naming.TellersOf(s.State.Facts.Config) }

// source implements terminal.Source.
type source struct {
	*view.Board
	news *view.Follower // nil: no events are shown
	log  *hostlog.Log
}

// Events implements terminal.Source.
func (x *source) Events() (events []view.Event) {
	for x.news != nil {
		more, err := x.news.Next(context.Background())
		if err != nil {
			x.log.Warn("the terminal shows no more results: " + err.Error())
			x.news = nil
		}
		if len(more) == 0 || len(events) >= mostShown {
			return append(events, more...)
		}
		events = append(events, more...)
	}
	return events
}

// mostShown is about how many events are shown at a time.
const mostShown = 1 << 16

// Draw redraws the progress until the context ends.
func (s *Show) Draw(ctx context.Context) {
	if s.progress == nil {
		return
	}
	ticks := time.NewTicker(s.progress.Every())
	defer ticks.Stop()
	s.progress.Run(ctx, ticks.C)
}

// End draws the progress for the last time.
func (s *Show) End() {
	if s.progress != nil {
		_ = s.progress.Close() // what cannot be written is not shown
	}
}

// SumUp prints the summary (B-123). The loop has ended.
func (s *Show) SumUp() {
	s.summed.Do(func() {
		s.Board.Write(true)
		end := s.end()
		m := s.State.Machine
		if len(m.Spec().Objectives) > 1 {
			end.Front = s.State.Front()
		}
		if text := view.SomeNotFinite(m); text != "" {
			end.Notes = append(end.Notes, text)
		}
		end.Unmet = m.Count(core.Errored) > 0
		for no := range core.TrialNo(m.Trials()) {
			if m.State(no) != core.Errored {
				continue
			}
			end.Unmet = end.Unmet && view.Unmet(m.View(no).Cause)
			if len(end.Failed) < maxFailedShown {
				end.Failed = append(end.Failed, s.Trial(no))
			}
		}
		s.write(end)
	})
}

const maxFailedShown = 100

// SumUpNow implements options.Live: it prints what the board has while the loop is still at work.
// What would take long is left to commands that can be given later.
func (s *Show) SumUpNow() {
	s.summed.Do(func() {
		s.Board.Leave()
		s.End()
		s.write(s.end())
	})
}

// EndingForGood implements options.Live.
func (s *Show) EndingForGood() (options.Ended, bool) {
	st := s.Board.Status()
	for _, o := range []core.Outcome{core.StoppedByUser, core.Finished} {
		if st.Ending == o.String() {
			return options.Ended{Outcome: o, Reason: st.Cause.String(), Errored: st.Counts[core.Errored], Dir: s.Dir},
				true
		}
	}
	return options.Ended{}, false
}

// end is what the summary of any experiment says.
func (s *Show) end() terminal.End {
	end := terminal.End{Status: s.Board.Status(), Dir: ShortDir(s.Dir), URL: s.URL, File: s.User.FileAgain(),
		Args: s.User.Args(), Notes: slices.Concat(s.Notes(), s.Log.Counts()), OwnPlugins: s.OwnPlugins,
		Choices: s.choices()}
	for _, o := range s.State.Facts.Config.Objectives {
		end.Objectives = append(end.Objectives, o.Metric)
	}
	if f, ok := s.User.Stdout.(*os.File); ok {
		shown := terminal.Detect(f, terminal.Brief, os.LookupEnv)
		end.Color, end.Below = shown.Color, shown.Terminal
		end.Width, _ = shown.Size()
	}
	return end
}

func (s *Show) write(end terminal.End) {
	if s.User.JSON || s.User.Verbose == 0 {
		return
	}
	if err := terminal.Summary(s.User.Stdout, end); err != nil {
		s.Log.Debug(err.Error())
	}
}

// Hint is what the user can do while the host of the experiment in dir is at work.
func Hint(exit *options.Exit, dir string, st view.Status) string {
	switch {
	case st.State == view.Running && exit.Asked():
		return "Ctrl-C again kills the trials now"
	case st.Paused && st.State == view.Running:
		return "`tunehost unpause " + untrusted.Word(ShortDir(dir)) + "` continues"
	}
	return ""
}

// ShortDir is a directory as the user would type it.
func ShortDir(dir string) string {
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	rel, err := filepath.Rel(here, dir)
	if err != nil || strings.HasPrefix(rel, "..") {
		return dir
	}
	return rel
}
