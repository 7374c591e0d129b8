package host

import (
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/training"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// crew carries the actions out: each kind goes to its driver's queue, with what
// only the loop can look up in the machine.
type crew struct {
	machine    *core.Machine
	translate  *translator
	traits     traits
	searching  *searching
	scheduling *scheduling
	training   *training.Driver // nil in ask and tell
	publishing *publishing
	narrator   *narrator
	board      *board
	trials     *trials
	inbox      *inbox.Inbox
	log        *hostlog.Log
	clock      clock.Clock
	running    func() time.Duration // the running time now
	stopTimer  func() bool
	// manual hears of trials and timers instead, in ask and tell.
	manual func(core.Action)
}

// Do implements Crew.
func (c *crew) Do(a core.Action) {
	switch a := a.(type) {
	case core.Tell:
		c.tell(a.Observation)
	case core.AskSearcher:
		c.searching.work.Put(searchWork{ask: &a})
	case core.SetTimer:
		c.setTimer(a)
	case core.Warn:
		c.warn(a)
	case core.DeleteCheckpoint:
		c.publishing.delete(c.trials.storage, c.trials.dir(a.Trial), a.ID)
	case core.Finish:
		// The loop ends with it.
	default:
		c.train(a)
	}
}

// Flush implements Crew.
func (c *crew) Flush() {
	c.searching.work.Flush()
	c.scheduling.work.Flush()
	if c.training != nil {
		c.training.Flush()
	}
	c.publishing.flush()
	c.board.write(false)
}

// tell hands an observation to each of those who shall hear it.
func (c *crew) tell(o core.Observation) {
	if o.To&core.ToSearcher != 0 {
		c.searching.work.Put(searchWork{event: c.event(o, c.traits.searcher)})
	}
	if o.To&core.ToScheduler != 0 && !c.traits.scheduler.Quiet {
		c.scheduling.put(scheduleWork{event: c.event(o, c.traits.scheduler), due: o.Due})
	}
	if o.To&core.ToReporters != 0 {
		c.publishing.tell(c.narrator.event(o))
	}
}

func (c *crew) event(o core.Observation, t sdk.Traits) sdk.Event {
	e, err := c.translate.event(o, t)
	if err != nil {
		c.log.Error("trial cannot be told to plugins: "+err.Error(), "trial", o.Trial)
	}
	return e
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
