package host

import (
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/consulting"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/telling"
	"github.com/tunehost/tunehost/host/training"
	"github.com/tunehost/tunehost/host/translation"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// crew carries the actions out: each kind goes to its driver's queue, with what
// only the loop can look up in the machine.
type crew struct {
	machine    *core.Machine
	translate  *translation.Translator
	listeners  []translation.Listener
	searching  *consulting.Searching
	scheduling *consulting.Scheduling
	training   *training.Driver // nil in ask and tell
	publishing *telling.Publisher
	narrator   *telling.Narrator
	board      *telling.Board
	trials     *trials
	remote     *remote
	inbox      *inbox.Inbox
	log        *hostlog.Log
	clock      clock.Clock
	running    func() time.Duration // the running time now
	stopTimer  func() bool
	// showLater has the board written after a while; nil: nobody looks.
	showLater func(time.Duration)
	// manual hears of trials and timers instead, in ask and tell.
	manual func(core.Action)
}

// Do implements Crew.
func (c *crew) Do(a core.Action) {
	switch a := a.(type) {
	case core.Tell:
		c.tell(a.Observation)
	case core.AskSearcher:
		c.searching.Put(consulting.SearchWork{Ask: &a})
	case core.SetTimer:
		c.setTimer(a)
	case core.Warn:
		c.warn(a)
	case core.DeleteCheckpoint:
		c.delete(a)
	case core.Finish:
		// The loop ends with it.
	default:
		c.train(a)
	}
}

// Flush implements Crew.
func (c *crew) Flush() {
	c.searching.Flush()
	c.scheduling.Flush()
	if c.training != nil {
		c.training.Flush()
	}
	c.publishing.Flush()
	if wait := c.board.Write(false); wait > 0 && c.showLater != nil {
		c.showLater(wait)
	}
}

// listen makes listeners of the searcher and of the scheduler, unless that is quiet.
func (c *crew) listen(t traits) {
	c.listeners = append(c.listeners, translation.Listener{To: core.ToSearcher, Traits: t.searcher,
		Hear: func(e sdk.Event, _ bool) { c.searching.Put(consulting.SearchWork{Event: e}) }})
	if !t.scheduler.Quiet {
		c.listeners = append(c.listeners, translation.Listener{To: core.ToScheduler, Traits: t.scheduler,
			Hear: func(e sdk.Event, due bool) { c.scheduling.Put(consulting.ScheduleWork{Event: e, Due: due}) }})
	}
}

// tell hands an observation to each of those who shall hear it.
func (c *crew) tell(o core.Observation) {
	c.tellPlugins(o)
	if o.To&core.ToReporters != 0 {
		c.publishing.Tell(c.narrator.Event(o))
	}
}

func (c *crew) tellPlugins(o core.Observation) {
	for i := range c.listeners {
		if err := c.translate.Tell(o, &c.listeners[i]); err != nil {
			c.log.Error("trial cannot be told to plugins: "+err.Error(), "trial", o.Trial)
		}
	}
}

// delete removes a checkpoint, and its copy before it, once the record is safe.
func (c *crew) delete(a core.DeleteCheckpoint) {
	d, dir := c.trials.storage, c.trials.dirOf(a.Trial, a.ID)
	remove := func() {
		if err := d.RemoveCheckpoint(dir, a.ID); err != nil {
			c.log.Warn("a checkpoint could not be deleted: " + err.Error())
		}
	}
	c.publishing.Later(func() { c.remote.delete(storage.CheckpointDir(dir, a.ID), remove) })
}

func (c *crew) warn(a core.Warn) {
	if a.HasTrial {
		c.log.Warn(c.trials.name(a.Trial) + ": " + a.Text)
		return
	}
	c.log.Warn(a.Text)
}

func (c *crew) setTimer(a core.SetTimer) {
	if c.manual != nil {
		c.manual(a)
		return
	}
	if c.stopTimer != nil {
		c.stopTimer()
	}
	wait := max(time.Duration(a.At)-c.running(), 0)
	c.stopTimer = c.clock.AfterFunc(wait, func() { c.inbox.Post(&core.Ticked{}) })
}

// train hands over what is about one attempt.
func (c *crew) train(a core.Action) {
	if c.manual != nil {
		c.manual(a)
		return
	}
	w := training.Work{Action: a}
	switch a := a.(type) {
	case core.StartAttempt:
		w.Trial = c.trials.start(a)
		w.Dir, w.Params = w.Trial.Dir, w.Trial.Params
		if a.Restore.ID != 0 {
			w.Checkpoint = c.trials.checkpoint(a.Restore)
		}
	case core.SaveAttempt:
		w.Dir = c.trials.dir(a.Trial)
	case core.TakeCheckpoint:
		w.Dir = c.trials.dir(a.Trial)
	case core.StopAttempt:
		w.Dir = c.trials.dir(a.Trial)
	}
	c.training.Put(w)
}
