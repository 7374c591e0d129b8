package host

import (
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/consulting"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/telling"
	"github.com/tunehost/tunehost/host/training"
	"github.com/tunehost/tunehost/host/translation"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// composition is what distinguishes a way to run experiments from a live host. The zero
// value is a live host.
type composition struct {
	// ports are what the engine stands on, made of a live host's; nil: these.
	ports func(s *session, live engine.Ports) engine.Ports
	// suggestions and decisions are where the answers of plugins go; nil: to the
	// engine's inbox.
	suggestions, decisions *inbox.Inbox
	// record is what the engine writes to, made of the session's; nil: that.
	record func(engine.Recorder) engine.Recorder
	// remembers keeps the points of trials that have not ended.
	remembers bool
}

// drivers call the plugins and tell reporters, each in a goroutine of its own.
type drivers struct {
	searching  *consulting.Searching
	scheduling *consulting.Scheduling
	training   *training.Driver // nil where the caller trains
	publishing *telling.Publisher
}

// livePorts are the ports of a live host.
func (s *session) livePorts() engine.Ports {
	d := &s.drivers
	s.display = &publisherPort{publishing: d.publishing, state: s.state, events: s.events, board: s.board,
		trials: s.trials, log: s.log}
	return engine.Ports{
		Clock:     s.clock,
		Recorder:  s.record,
		Searcher:  s.searcherPort(),
		Scheduler: s.schedulerPort(),
		Executor:  &executorPort{s.trials, d.training},
		Publisher: s.display,
		Store:     &storePort{s.trials, d.publishing, s.remote, s.log},
		Timer:     &timerPort{clock: s.clock, inbox: s.inbox, running: s.running},
		Listeners: []engine.Listener{&listener{s.effects}},
	}
}

// pluginPort tells a plugin what its driver is to tell it.
type pluginPort struct {
	listener  translation.Listener
	translate *translation.Translator
	log       *hostlog.Log
}

// Tell is part of engine.Searcher and engine.Scheduler.
func (h *pluginPort) Tell(o core.Observation) {
	if err := h.translate.Tell(o, &h.listener); err != nil {
		h.log.Error("trial cannot be told to plugins: "+err.Error(), "trial", o.Trial)
	}
}

type searcherPort struct {
	pluginPort
	*consulting.Searching
}

func (s *session) searcherPort() *searcherPort {
	d := &s.drivers
	hear := func(e sdk.Event, _ bool) { d.searching.Put(consulting.SearchWork{Event: e}) }
	l := translation.Listener{To: core.ToSearcher, Traits: s.plugins.Traits().Searcher, Hear: hear}
	return &searcherPort{pluginPort{l, s.translate, s.log}, d.searching}
}

// Ask implements engine.Searcher.
func (p *searcherPort) Ask(a core.AskSearcher) { p.Put(consulting.SearchWork{Ask: &a}) }

type schedulerPort struct {
	pluginPort
	*consulting.Scheduling
}

func (s *session) schedulerPort() *schedulerPort {
	d := &s.drivers
	hear := func(e sdk.Event, due bool) { d.scheduling.Put(consulting.ScheduleWork{Event: e, Due: due}) }
	l := translation.Listener{To: core.ToScheduler, Traits: s.plugins.Traits().Scheduler, Hear: hear}
	return &schedulerPort{pluginPort{l, s.translate, s.log}, d.scheduling}
}

// Tell implements engine.Scheduler: a quiet scheduler hears nothing.
func (p *schedulerPort) Tell(o core.Observation) {
	if !p.listener.Traits.Quiet {
		p.pluginPort.Tell(o)
	}
}

// executorPort gives attempts to the driver of trainables, with what only the machine
// knows of them.
type executorPort struct {
	trials   *trials
	training *training.Driver
}

// Do implements engine.Executor.
func (p *executorPort) Do(a core.Action) {
	w := training.Work{Action: a}
	switch a := a.(type) {
	case core.StartAttempt:
		w.Trial = p.trials.start(a)
		w.Dir, w.Params = w.Trial.Dir, w.Trial.Params
		if a.Restore.ID != 0 {
			w.Checkpoint = p.trials.checkpoint(a.Restore)
		}
	case core.SaveAttempt:
		w.Dir = p.trials.Dir(a.Trial)
	case core.TakeCheckpoint:
		w.Dir = p.trials.Dir(a.Trial)
	case core.StopAttempt:
		w.Dir = p.trials.Dir(a.Trial)
	}
	p.training.Put(w)
}

// Flush implements engine.Executor.
func (p *executorPort) Flush() { p.training.Flush() }

// publisherPort tells reporters, and shows the board.
type publisherPort struct {
	publishing *telling.Publisher
	state      *view.State
	events     *view.EventBuilder
	board      *view.Board // nil: nobody looks
	trials     *trials
	log        *hostlog.Log
	// showLater has the board written after a while; nil: nobody looks.
	showLater func(time.Duration)
}

// Hear implements engine.Publisher.
func (p *publisherPort) Hear(s *history.Step) {
	p.state.Noted(s.Actions)
	p.events.Hear(s, 0, p.publishing.Tell)
}

// Warn implements engine.Publisher.
func (p *publisherPort) Warn(a core.Warn) {
	if a.HasTrial {
		p.log.Warn(p.trials.name(a.Trial) + ": " + a.Cause.String())
		return
	}
	p.log.Warn(a.Cause.String())
}

// Flush implements engine.Publisher.
func (p *publisherPort) Flush() {
	p.publishing.Flush()
	if p.board == nil {
		return
	}
	if wait := p.board.Write(false); wait > 0 && p.showLater != nil {
		p.showLater(wait)
	}
}

type storePort struct {
	trials     *trials
	publishing *telling.Publisher
	remote     *remote
	log        *hostlog.Log
}

// Delete implements engine.Store: it removes a checkpoint, and its copy before it, once
// the record is safe.
func (p *storePort) Delete(a core.DeleteCheckpoint) {
	d, dir := p.trials.storage, p.trials.DirOf(a.Trial, a.ID)
	remove := func() {
		if err := d.RemoveCheckpoint(dir, a.ID); err != nil {
			p.log.Warn("a checkpoint could not be deleted: " + err.Error())
		}
	}
	p.publishing.Later(func() { p.remote.delete(storage.CheckpointDir(dir, a.ID), remove) })
}

type timerPort struct {
	clock   clock.Clock
	inbox   *inbox.Inbox
	running func() time.Duration
	stop    func() bool
}

// Set implements engine.Timer.
func (p *timerPort) Set(at int64) {
	if p.stop != nil {
		p.stop()
	}
	wait := max(time.Duration(at)-p.running(), 0)
	p.stop = p.clock.AfterFunc(wait, func() { p.inbox.Post(&core.Ticked{}) })
}

// listener hears events for what is said of settings without effect.
type listener struct{ effects *effects }

// Applied implements engine.Listener.
func (l *listener) Applied(e core.Event) { l.effects.heard(e) }

// Doing implements engine.Listener.
func (*listener) Doing(core.Action) {}
