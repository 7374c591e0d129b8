// Package views has what readers see of a running experiment: its trials, its events, its board, the
// output on the terminal, and the result files.
package views

import (
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/effects"
	"github.com/tunehost/tunehost/host/config/spec"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/report/jsonlines"
	"github.com/tunehost/tunehost/host/report/publish"
	"github.com/tunehost/tunehost/host/show"
	"github.com/tunehost/tunehost/host/trials"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

// Views are what readers see.
type Views struct {
	setup  *setup.Setup
	Facts  *view.Facts
	State  *view.State
	Trials *trials.Trials
	Events *view.EventBuilder
	// Show sets these.
	Board   *view.Board
	Effects *effects.Effects
	Shown   *show.Show
}

// New returns the views of the machine, without those that Show sets.
func New(b *setup.Setup) *Views {
	facts := &view.Facts{Name: b.Plan.Experiment.Name, Seed: b.File.Seed, Config: b.Plan.Experiment, Dir: b.Dir,
		Created: b.File.Created}
	state := view.NewState(facts, b.History)
	t := trials.New(state)
	return &Views{setup: b, Facts: facts, State: state, Trials: t, Events: view.NewEventBuilder(b.Machine, t.Of)}
}

// Show makes the board and the terminal output. running returns how long the experiment has run.
func (s *Views) Show(running func() time.Duration) {
	b := s.setup
	e, dir := b.Plan.Experiment, b.Dir.Path()
	hint := func(st view.Status) string { return show.Hint(b.Options.Exit, dir, st) }
	s.Board = view.NewBoard(view.BoardOptions{State: s.State, Elapsed: running, Clock: b.Options.Clock, Hint: hint,
		Planned: spec.Runs(e), Lacks: b.Disk.Lacks})
	s.Effects = effects.New(e, b.Machine, b.Log, s.Trials.Dir)
	s.Shown = show.New(show.Options{User: &b.Options, Dir: dir, URL: b.Plan.Remote.URL(), Board: s.Board,
		State: s.State, Trial: s.Trials.Of, Notes: s.Effects.Notes, OwnPlugins: opening.UsesOwn(b.Options.Plugins, e),
		Log: b.Log, Screen: b.Screen})
}

// Telling has the options of reporters.
type Telling struct {
	// Reported is the last event in the result files, ToldBefore the last event of earlier hosts.
	Reported, ToldBefore uint64
	// Plugins are the reporters that are plugins.
	Plugins []*publish.PluginReporter
	// Follow returns a follower of the events that are published from now on.
	Follow func() *view.Follower
}

// Reporters returns the reporters of the experiment file and the progress display.
func (s *Views) Reporters(x Telling) []*publish.Subscriber {
	b := s.setup
	written := files.New(files.Options{Dir: b.Dir.Path(), Formats: s.formats(), Now: b.Options.Clock.Now,
		Warn: b.Warn})
	list := []*publish.Subscriber{s.subscriber(x, "files", publish.HostReporter{Reporter: written}, x.Reported, 0)}
	switch {
	case b.Options.Mode.Manual: // standard output is the caller's
	case b.Options.JSON:
		lines := jsonlines.New(b.Options.Stdout)
		list = append(list, s.subscriber(x, "json", publish.HostReporter{Reporter: lines}, x.ToldBefore, 0))
	case show.Progresses(&b.Options):
		s.Shown.Begin(s.follow(x))
	}
	for _, r := range x.Plugins {
		after, ok := r.After()
		if !ok {
			continue // it failed to start
		}
		if after > x.ToldBefore {
			b.Log.Warn(fmt.Sprintf("reporter %s says that it has received all events up to %d, but there are only "+
				"%d: it receives nothing until then", r.Title, after, x.ToldBefore))
		}
		list = append(list, s.subscriber(x, r.Title, r, after, publish.MostForPlugin))
	}
	return list
}

// formats returns the formats of result files that the experiment file asks for.
func (s *Views) formats() (formats []files.Format) {
	for _, ref := range s.setup.Plan.Experiment.Reporters {
		if f, ok := files.ParseFormat(ref.Name); ok && config.IsFormat(ref) {
			formats = append(formats, f)
		}
	}
	return formats
}

// follow returns a follower of the events of this host if the terminal shows them.
func (s *Views) follow(x Telling) *view.Follower {
	if !show.WantsEvents(&s.setup.Options) {
		return nil
	}
	return x.Follow()
}

func (s *Views) subscriber(x Telling, name string, to publish.Reportee, after uint64, most int) *publish.Subscriber {
	return publish.NewSubscriber(publish.SubscriberOptions{Name: name, To: to, After: after, Begun: x.Reported,
		Most: most, Log: s.setup.Log, Follow: s.eventLog,
		Note: func(until time.Time) error {
			return s.setup.Dir.NoteLeaving(fmt.Sprintf("waits for the reporter %q to receive all events", name), until)
		}})
}

// SayPaused warns that the experiment is still paused, as it was when its last host ended.
func (s *Views) SayPaused() {
	s.setup.Log.Warn("the experiment is paused, as it was when its last host ended: `tunehost unpause " +
		untrusted.Word(show.ShortDir(s.setup.Dir.Path())) + "` continues")
}

// Ended returns how the run ended.
func (s *Views) Ended() options.Ended {
	m := s.setup.Machine
	o, cause := m.Outcome()
	why := s.Facts.Named(cause)
	return options.Ended{Outcome: o, Reason: why.String(), Errored: m.Count(core.Errored), Dir: s.setup.Dir.Path(),
		NonFinite: view.NonFinite(m)}
}

// eventLog returns the events of the record from its beginning.
func (s *Views) eventLog() (*view.EventLog, error) {
	h, err := s.setup.Past()
	if err != nil {
		return nil, err
	}
	return view.NewEventLog(s.Facts, h), nil
}
