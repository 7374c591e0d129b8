// Package ports has the ports by which the engine of a live host uses the drivers.
package ports

import (
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/attempt"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/compose/drivers"
	"github.com/tunehost/tunehost/host/consult"
	"github.com/tunehost/tunehost/host/consult/translation"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/report/publish"
	"github.com/tunehost/tunehost/host/show"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/remote"
	"github.com/tunehost/tunehost/host/trials"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Granter is what leases are asked for by, and what is known of those that were granted.
type Granter interface {
	Port() engine.Granter
	// Addresses are by what the nodes of a lease reach each other; nil: they are this machine.
	Addresses(lease core.LeaseID) []string
}

// Live are the ports of a live host's engine, whose drivers d are made of o; running is how long the
// experiment has run.
func Live(o drivers.Options, d *drivers.Drivers, granter Granter, running func() time.Duration) engine.Ports {
	b, x := o.Setup, o.Views
	traits := o.Plugins.Traits()
	return engine.Ports{
		Clock:     b.Options.Clock,
		Recorder:  b.Record,
		Searcher:  newSearcher(d, traits.Searcher, b.Log),
		Scheduler: newScheduler(d, traits.Scheduler, b.Log),
		Executor:  &executor{x.Trials, d.Training, granter.Addresses},
		Granter:   granter.Port(),
		Publisher: newPublisher(o, d),
		Store:     &store{b.Dir, x.Trials, d.Publishing, b.Plan.Remote, b.Log},
		Timer:     &timer{clock: b.Options.Clock, inbox: o.Inbox, running: running},
		Listeners: []engine.Listener{x.Effects},
	}
}

// told tells a plugin what its driver is to tell it.
type told struct {
	listener  translation.Listener
	translate *translation.Translator
	log       *hostlog.Log
}

// Tell is part of engine.Searcher and engine.Scheduler.
func (h *told) Tell(o core.Observation) {
	if err := h.translate.Tell(o, &h.listener); err != nil {
		h.log.Error("trial cannot be told to plugins: "+err.Error(), "trial", o.Trial)
	}
}

type searcher struct {
	told
	*consult.Searching
}

func newSearcher(d *drivers.Drivers, traits sdk.Traits, log *hostlog.Log) *searcher {
	hear := func(e sdk.Event, _ bool) { d.Searching.Put(consult.SearchWork{Event: e}) }
	l := translation.Listener{To: core.ToSearcher, Traits: traits, Hear: hear}
	return &searcher{told{l, d.Translate, log}, d.Searching}
}

// Ask implements engine.Searcher.
func (p *searcher) Ask(a core.AskSearcher) { p.Put(consult.SearchWork{Ask: &a}) }

type scheduler struct {
	told
	*consult.Scheduling
}

func newScheduler(d *drivers.Drivers, traits sdk.Traits, log *hostlog.Log) *scheduler {
	hear := func(e sdk.Event, due bool) { d.Scheduling.Put(consult.Work(d.Translate.Machine, e, due)) }
	l := translation.Listener{To: core.ToScheduler, Traits: traits, Hear: hear}
	return &scheduler{told{l, d.Translate, log}, d.Scheduling}
}

// Tell implements engine.Scheduler: a quiet scheduler hears nothing.
func (p *scheduler) Tell(o core.Observation) {
	if !p.listener.Traits.Quiet {
		p.told.Tell(o)
	}
}

// executor gives attempts to the driver of trainables, with what only the machine
// knows of them.
type executor struct {
	trials   *trials.Trials
	training *attempt.Driver
	// addresses are by what the nodes of a lease reach each other; nil: they are this machine.
	addresses func(core.LeaseID) []string
}

// Do implements engine.Executor.
func (p *executor) Do(a core.Action) {
	w := attempt.Work{Action: a}
	switch a := a.(type) {
	case core.StartAttempt:
		w.Trial = p.trials.Start(a)
		w.Dir, w.Params = w.Trial.Dir, w.Trial.Params
		for i, address := range p.addresses(a.Lease) {
			w.Trial.Bundles[i].Address = address
		}
		if a.Restore.ID != 0 {
			w.Checkpoint = p.trials.Checkpoint(a.Restore)
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

// Recorded implements engine.Confirmer.
func (p *executor) Recorded(r *core.ResultReported, saves bool) {
	p.training.Put(attempt.Work{Recorded: attempt.Recorded{Trial: r.Trial, Attempt: r.Attempt, Done: r.Done,
		Saves: saves}})
}

// Flush implements engine.Executor.
func (p *executor) Flush() { p.training.Flush() }

// publisher tells reporters, and writes the board.
type publisher struct {
	publishing *publish.Publisher
	state      *view.State
	events     *view.EventBuilder
	board      *view.Board // nil: nobody looks at it
	trials     *trials.Trials
	log        *hostlog.Log
	// showLater writes the board after a while; nil: nobody looks at it.
	showLater func(time.Duration)
}

// newPublisher leaves the board out where nobody sees it: on a stage.
func newPublisher(o drivers.Options, d *drivers.Drivers) *publisher {
	b, x := o.Setup, o.Views
	p := &publisher{publishing: d.Publishing, state: x.State, events: x.Events, trials: x.Trials, log: b.Log}
	if b.Stage == nil {
		p.board = x.Board
	}
	if show.Progresses(&b.Options) {
		p.showLater = showLater(b.Options.Clock, o.Inbox, x.Board)
	}
	return p
}

// showLater returns a function that writes the board when it may be written again, so that what
// came right after the last time is shown although nothing more happens.
func showLater(c clock.Clock, loop *inbox.Inbox, board *view.Board) func(time.Duration) {
	waiting := false // the loop's
	return func(wait time.Duration) {
		if waiting {
			return
		}
		waiting = true
		c.AfterFunc(wait, func() {
			loop.Add([]inbox.Item{{Query: func(*core.Machine) { waiting = false; board.Write(true) }}})
		})
	}
}

// Hear implements engine.Publisher.
func (p *publisher) Hear(s *history.Step) {
	p.state.Noted(s.Actions)
	p.events.Hear(s, 0, p.publishing.Tell)
}

// Warn implements engine.Publisher.
func (p *publisher) Warn(a core.Warn) {
	if !a.HasTrial {
		p.log.Warn(a.Cause.String())
		return
	}
	name, why := p.trials.Name(a.Trial), a.Cause.String()
	switch a.Cause.Kind {
	case core.CauseResizeRefused, core.CauseExploitRefused, core.CauseCloneRefused:
		// A scheduler that does this to one trial does it to many.
		p.log.Counted(why, name, name+": "+why, func(n int) string {
			return fmt.Sprintf("%d trials had this warning: %s; host.log names them", n, why)
		})
	default:
		p.log.Warn(name + ": " + why)
	}
}

// Flush implements engine.Publisher.
func (p *publisher) Flush() {
	p.publishing.Flush()
	if p.board == nil {
		return
	}
	if wait := p.board.Write(false); wait > 0 && p.showLater != nil {
		p.showLater(wait)
	}
}

type store struct {
	dir        storage.Dir
	trials     *trials.Trials
	publishing *publish.Publisher
	remote     *remote.Storage
	log        *hostlog.Log
}

// Delete implements engine.Store: it removes a checkpoint, and its copy before it, once
// the record is safe.
func (p *store) Delete(a core.DeleteCheckpoint) {
	dir := p.trials.DirOf(a.Trial, a.ID)
	remove := func() {
		if err := p.dir.RemoveCheckpoint(dir, a.ID); err != nil {
			p.log.Warn("a checkpoint could not be deleted: " + err.Error())
		}
	}
	p.publishing.Later(func() { p.remote.Delete(storage.CheckpointDir(dir, a.ID), remove) })
}

type timer struct {
	clock   clock.Clock
	inbox   *inbox.Inbox
	running func() time.Duration
	stop    func() bool
}

// Set implements engine.Timer.
func (p *timer) Set(at int64) {
	if p.stop != nil {
		p.stop()
	}
	wait := max(time.Duration(at)-p.running(), 0)
	p.stop = p.clock.AfterFunc(wait, func() { p.inbox.Post(&core.Ticked{}) })
}
