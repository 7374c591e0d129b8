// Package compose makes an engine of an experiment's plugins, its directory and its record, and
// runs it. A live host is the zero How; ask and tell, simulations and tests compose the same
// engine with other ports, once, when it is made.
//
// Its folders are the parts:
//
//   - setup: the plan, the locked directory, and the record;
//   - pluginset: the opened plugins; leasing: the executor that grants leases;
//   - recovery: what earlier hosts recorded; startup: the first events of this host;
//   - drivers: the drivers of plugins and reporters; ports: the engine's ports to them;
//   - views: what readers see; live: how readers and other commands reach a running host.
package compose

import (
	"context"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/compose/drivers"
	"github.com/tunehost/tunehost/host/compose/leasing"
	"github.com/tunehost/tunehost/host/compose/pluginset"
	"github.com/tunehost/tunehost/host/compose/recovery"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/compose/startup"
	"github.com/tunehost/tunehost/host/compose/views"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/prepare"
)

// How lists the differences between a way to run experiments and a live host.
type How struct {
	// Ports changes the ports of a live host; nil: these.
	Ports func(s *Session, live engine.Ports) engine.Ports
	// Suggestions and Decisions receive the answers of plugins; nil: the engine's inbox does.
	Suggestions, Decisions *inbox.Inbox
	// Record wraps the recorder; nil: it is used as it is.
	Record func(engine.Recorder) engine.Recorder
	// Points remembers the points of trials that have not ended; nil: nothing is remembered.
	Points *points.Memory
	// Nodes are the nodes of this machine; nil: they are detected.
	Nodes []resource.Node
	// Stage replaces the machine and the disk in tests; nil: they are real.
	Stage *Stage
}

// Stage replaces the machine and the disk in tests.
type Stage = setup.Stage

// Session is the work of one host on an experiment, from its start to its end.
type Session struct {
	*setup.Setup
	Drivers *drivers.Drivers
	how     How
	inbox   *inbox.Inbox
	engine  *engine.Engine
	// Plugins are the opened plugins, Views what readers see.
	Plugins  *pluginset.Set
	Views    *views.Views
	leasing  *leasing.Leasing
	offered  *startup.Offered
	recovery *recovery.Recovery
	// inherited is what the experiment took over from others.
	inherited *startup.Inherited
	broken    bool // the run ended with an error, which was returned
}

// Begin starts or resumes an experiment, up to its engine. The caller must close the session.
// ctx ends if the user interrupts before the experiment runs.
func Begin(ctx context.Context, p *prepare.Plan, o options.Options, how How) (*Session, error) {
	b, err := setup.Take(ctx, p, o, how.Stage)
	if err != nil {
		return nil, err
	}
	s := &Session{Setup: b, how: how, inbox: inbox.New(), Plugins: pluginset.New(b),
		offered: startup.NewOffered(b, how.Nodes), inherited: startup.NewInherited(b)}
	s.leasing = leasing.New(b, s.Plugins.Opener)
	switch {
	case how.Stage != nil:
		if err := s.openStage(); err != nil {
			return nil, err // the stage simulates a host that died: such a host closes nothing
		}
		return s, nil
	case p.File == nil:
		err = s.create()
	default:
		err = s.open()
	}
	if err != nil {
		s.Refused(err)
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// Close releases everything. It returns the error of closing the record, unless the run has
// returned an error.
func (s *Session) Close() error {
	s.ClosePlugins()
	s.leasing.Close()
	s.Plugins.CloseRest()
	s.Unguard()
	s.offered.Close()
	if err := s.Setup.Close(); err != nil && !s.broken {
		return err
	}
	return nil
}

// Engine returns the engine; nil while the ports are made.
func (s *Session) Engine() *engine.Engine { return s.engine }

// Inbox returns the engine's inbox.
func (s *Session) Inbox() *inbox.Inbox { return s.inbox }

// Join posts the events of nodes that join.
func (s *Session) Join(nodes []resource.Node) { s.inbox.Post(startup.Joined(nodes)...) }

// ClosePlugins closes searcher, scheduler and trainable before the session is closed.
func (s *Session) ClosePlugins() { s.Plugins.Close() }

// Step records and applies the events in the inbox, if any. Ask and tell, simulations and test
// harnesses run the engine in one goroutine, step by step.
func (s *Session) Step() (busy bool, err error) {
	if err := s.Failure(); err != nil {
		return false, err
	}
	return s.engine.Step()
}
