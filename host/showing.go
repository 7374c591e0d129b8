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
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/report/jsonlines"
	"github.com/tunehost/tunehost/host/report/terminal"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/telling"
	"github.com/tunehost/tunehost/host/view"
)

// reporters are those of the experiment file, and what shows the progress.
func (s *session) reporters() []*telling.Teller {
	var formats []files.Format
	for _, ref := range s.experiment.Reporters {
		if f, ok := files.ParseFormat(ref.Name); ok && isFormat(ref) {
			formats = append(formats, f)
		}
	}
	written := files.New(files.Options{Dir: s.dir.Path(), Formats: formats, Now: s.clock.Now,
		Warn: func(text string) { s.log.Warn(text) }})
	list := []*telling.Teller{s.teller("files", telling.Own{Reporter: written}, s.reported, 0)}
	switch {
	case s.options.manual: // standard output is the caller's
	case s.options.JSON:
		list = append(list, s.teller("json", telling.Own{Reporter: jsonlines.New(s.options.Stdout)}, s.toldBefore, 0))
	case s.options.Verbose > 0:
		s.progress = s.newProgress()
	}
	for _, r := range s.relays {
		after, ok := r.After()
		if !ok {
			continue // given up at its start
		}
		if after > s.toldBefore {
			s.log.Warn(fmt.Sprintf("reporter %s says that it has heard all up to event %d, but there are only %d: it hears of nothing until then", r.Title, after, s.toldBefore))
		}
		list = append(list, s.teller(r.Title, r, after, telling.MostForPlugin))
	}
	return list
}

func (s *session) teller(name string, to telling.Reportee, after uint64, most int) *telling.Teller {
	return telling.NewTeller(telling.TellerOptions{Name: name, To: to, After: after, Begun: s.reported, Most: most, Log: s.log,
		Follow: s.eventLog})
}

// eventLog reads the events of the record from its beginning.
func (s *session) eventLog() (*view.EventLog, error) {
	h, err := s.past()
	if err != nil {
		return nil, err
	}
	return view.NewEventLog(s.facts, h), nil
}

// checkFormat checks a reporter that the host is itself.
func checkFormat(ref config.PluginRef) error {
	if isFormat(ref) && string(ref.Options) != "{}" {
		return &config.Error{Pos: ref.Pos, Msg: fmt.Sprintf("reporter %q has no options", ref.Name)}
	}
	return nil
}

// newProgress shows the board on the terminal; warnings go past its table.
func (s *session) newProgress() *terminal.Progress {
	o := terminal.Options{Out: s.options.Stdout, Verbosity: terminal.Verbosity(s.options.Verbose)}
	if f, ok := s.options.Stdout.(*os.File); ok {
		o = terminal.Detect(f, terminal.Verbosity(s.options.Verbose), os.LookupEnv)
	}
	p := terminal.New(s.onScreen(), o)
	if o.Terminal {
		s.screen.To(p)
		s.options.Exit.shows()
	}
	s.display.showLater = s.showLater()
	return p
}

// onScreen is what the terminal shows: the board, and where it is wanted, what happens.
func (s *session) onScreen() *onScreen {
	x := &onScreen{Board: s.board, log: s.log}
	if s.options.Verbose < int(terminal.Results) {
		return x
	}
	feed := view.NewFeed(s.toldBefore)
	s.drivers.publishing.Listen(feed)
	x.news = view.New(s.facts, &looking{s: s}).Follow(s.toldBefore, feed)
	return x
}

// onScreen is a terminal.Source.
type onScreen struct {
	*view.Board
	news *view.Follower // nil: nobody shows any
	log  *hostlog.Log
}

// Events implements terminal.Source.
func (x *onScreen) Events() (events []view.Event) {
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

// mostShown is how many events are shown at a time, about.
const mostShown = 1 << 16

// endProgress draws a last time.
func (s *session) endProgress() {
	if s.progress != nil {
		_ = s.progress.Close() // what cannot be written is not shown
	}
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
	s.summed.Do(func() {
		s.board.Write(true)
		end := s.end()
		if objectives := s.machine.Spec().Objectives; len(objectives) > 1 {
			end.Front = s.front(objectives)
		}
		for no := range core.TrialNo(s.machine.Trials()) {
			if s.machine.State(no) == core.Errored && len(end.Failed) < maxFailedShown {
				end.Failed = append(end.Failed, s.trials.Of(no))
			}
		}
		s.write(end)
	})
}

// sumUpNow is sumUp while the loop is still at work: it says what the board has. What
// would take long is left to commands that can be given later.
func (s *session) sumUpNow() {
	s.summed.Do(func() {
		s.board.Leave()
		s.endProgress()
		s.write(s.end())
	})
}

// endingForGood implements liveHost.
func (s *session) endingForGood() (Ended, bool) {
	st := s.board.Status()
	for _, o := range []core.Outcome{core.StoppedByUser, core.Finished} {
		if st.Ending == o.String() {
			return Ended{Outcome: o, Reason: st.Cause.String(), Errored: st.Counts[core.Errored], Dir: s.dir.Path()},
				true
		}
	}
	return Ended{}, false
}

// end is what the last word says of any experiment.
func (s *session) end() terminal.End {
	end := terminal.End{Status: s.board.Status(), Dir: s.shortDir(), File: s.options.File, Args: s.options.args(),
		Objectives: objectiveNames(s.experiment)}
	end.Notes = s.effects.notes()
	end.OwnPlugins = UsesOwnPlugins(s.options.Plugins, s.experiment)
	if s.remote != nil {
		end.URL = s.remote.store.URL()
	}
	if f, ok := s.options.Stdout.(*os.File); ok {
		shown := terminal.Detect(f, terminal.Brief, os.LookupEnv)
		end.Color, end.Below = shown.Color, shown.Terminal
	}
	return end
}

func (s *session) write(end terminal.End) {
	if s.options.JSON || s.options.Verbose == 0 {
		return
	}
	if err := terminal.Summary(s.options.Stdout, end); err != nil {
		s.log.Debug(err.Error())
	}
}

// hint is what the user can do while the host is at work.
func (s *session) hint(st view.Status) string {
	switch {
	case st.State == view.Running && s.options.Exit.Asked():
		return "Ctrl-C once more leaves at once"
	case st.Paused && st.State == view.Running:
		return "`tunehost unpause " + s.shortDir() + "` goes on"
	}
	return ""
}

// sayPaused: an experiment that was paused when its last host ended still is.
func (s *session) sayPaused() {
	if s.begun && s.machine.Paused() {
		s.log.Warn("the experiment is paused, as it was when its last host ended: `tunehost unpause " + s.shortDir() + "` goes on")
	}
}

// showLater has the board written when it may be again, so that what came right after
// the last time is not left out while nothing more happens.
func (s *session) showLater() func(time.Duration) {
	waiting := false // the loop's
	return func(wait time.Duration) {
		if waiting {
			return
		}
		waiting = true
		s.clock.AfterFunc(wait, func() {
			s.inbox.Add([]inbox.News{{Query: func(*core.Machine) { waiting = false; s.board.Write(true) }}})
		})
	}
}

// front are the trials that no other one beats in all objectives.
func (s *session) front(objectives []core.Objective) (list []view.Trial) {
	for _, no := range view.Front(s.machine, objectives, view.Last) {
		list = append(list, s.state.Trial(no))
	}
	return list
}

func objectiveNames(e *config.Experiment) (names []string) {
	for _, o := range e.Objectives {
		names = append(names, o.Metric)
	}
	return names
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
	go func() {
		served <- control.Serve(l, &steer.Live{Facts: s.facts, Host: &looking{s, over}, Elapsed: s.running})
	}()
	return func() {
		hide()
		err := errors.Join(l.Close(), <-served)
		remove()
		if err != nil {
			s.log.Debug(err.Error())
		}
	}
}
