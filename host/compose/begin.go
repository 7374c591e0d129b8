package compose

import (
	"errors"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/compose/drivers"
	"github.com/tunehost/tunehost/host/compose/ports"
	"github.com/tunehost/tunehost/host/compose/recovery"
	"github.com/tunehost/tunehost/host/compose/startup"
	"github.com/tunehost/tunehost/host/compose/views"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/usererror"
)

// create begins the record of a new experiment.
func (s *Session) create() error {
	if err := s.Setup.Begin(); err != nil {
		return err
	}
	if err := s.inherited.Take(); err != nil {
		return err
	}
	if err := s.offered.Measure(); err != nil {
		return err
	}
	s.look()
	if err := s.openPlugins(); err != nil {
		return err
	}
	// Refuse now what can be refused: later there would be an experiment to resume.
	events, err := s.first().Events()
	if err == nil {
		err = s.Starting.Err()
	}
	if err == nil && s.Kept() {
		err = s.settle()
	}
	if err != nil {
		return err
	}
	s.Settle()
	s.start(events)
	return s.Remember()
}

// settle writes a new experiment into its directory.
func (s *Session) settle() error {
	if err := s.inherited.Keep(); err != nil {
		return err
	}
	if err := errors.Join(s.writeFile(), s.Plugins.Lock()); err != nil {
		return err
	}
	return s.Create()
}

// writeFile writes run.json, or says what to do.
func (s *Session) writeFile() error { return s.Dir.Unwritten(s.File.Write(s.Dir)) }

// open resumes an experiment.
func (s *Session) open() error {
	s.look()
	s.Options.Await("the record of " + s.Dir.Path())
	if err := s.recovery.Open(); err != nil {
		return err
	}
	if err := runfile.Agree(s.Dir, s.File, s.Plan.Experiment, s.Machine.Spec()); err != nil {
		return usererror.Wrap(err)
	}
	if err := errors.Join(s.recovery.Check(), s.inherited.Recall(), s.recovery.MakeDirs()); err != nil {
		return err
	}
	if err := s.Part(); err != nil {
		return err
	}
	if err := s.openPlugins(); err != nil {
		return err
	}
	events, err := s.first().Events()
	if err != nil {
		return err
	}
	if s.Plan.Changed {
		if err := s.writeFile(); err != nil {
			return err
		}
	}
	if err := s.Plugins.Lock(); err != nil {
		return err
	}
	s.Settle()
	s.start(events)
	return s.Remember()
}

// openStage begins or resumes the experiment on a stage.
func (s *Session) openStage() error {
	s.look()
	fresh, err := s.recovery.OpenOnStage()
	if err != nil {
		return err
	}
	if err := s.openPlugins(); err != nil {
		return err
	}
	events, err := s.first().Events()
	if err != nil {
		return err
	}
	if fresh {
		if err := s.CreateOnStage(); err != nil {
			return err
		}
	}
	s.start(events)
	return nil
}

// look makes the views.
func (s *Session) look() {
	s.Views = views.New(s.Setup)
	s.recovery = recovery.New(s.Setup, s.Views)
}

// openPlugins opens the plugins and tells them what has happened so far.
func (s *Session) openPlugins() error {
	if err := s.Plugins.Open(s.Machine.Observations(), s.Machine.Decided()); err != nil {
		return err
	}
	if e := s.Plan.Experiment; e.Leased() {
		s.Options.Await("executor " + e.Executor.Name)
	}
	if err := s.leasing.Open(s.inbox); err != nil {
		return err
	}
	s.Plugins.Nodes, s.Plugins.Serve, s.Plugins.GiveUp = s.leasing.Nodes(), s.leasing.Serve, s.leasing.GiveUp
	s.Options.Await("the reporters")
	return s.Plugins.OpenReporters()
}

// first returns the first events of this host.
func (s *Session) first() *startup.Host {
	return &startup.Host{Setup: s.Setup, Recovery: s.recovery, Offered: s.offered, Inherited: s.inherited,
		Traits: s.Plugins.Traits(), Name: s.Views.Trials.Name, Request: s.Plugins.Request,
		Requests: s.Plugins.Requesting != nil}
}

// start makes the drivers and the engine, gives the drivers the unfinished work of earlier hosts, and
// posts the first events of this host.
func (s *Session) start(events []core.Event) {
	how := s.how
	o := drivers.Options{Setup: s.Setup, Plugins: s.Plugins, Views: s.Views, Inbox: s.inbox,
		Suggestions: how.Suggestions, Decisions: how.Decisions, Points: how.Points, Known: s.recovery.Known}
	s.Drivers = drivers.New(o)
	running := func() time.Duration { return s.engine.Running() }
	s.Views.Show(running)
	s.Drivers.Train()
	if how.Record != nil {
		s.Record = how.Record(s.Record)
	}
	p := ports.Live(o, s.Drivers, s.leasing, running)
	if how.Ports != nil {
		p = how.Ports(s, p)
	}
	s.engine = engine.New(engine.Options{Ports: p, History: s.History, Inbox: s.inbox, Rules: s.recovery.Rules,
		Disk: s.Disk, Log: s.Log, Before: s.recovery.Last})
	s.Drivers.HandOver(s.recovery.Unfinished())
	s.inbox.Post(events...)
}
