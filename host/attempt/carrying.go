package attempt

import (
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
)

// apply applies an event to the run's life and carries out the resulting actions. The
// caller holds the lock.
func (t *Driver) apply(r *run, e life.Event) {
	for _, a := range r.Apply(e) {
		t.carryOut(r, a)
	}
}

// lockAndApply is apply for callers that do not hold the lock.
func (t *Driver) lockAndApply(r *run, e life.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.apply(r, e)
}

func (t *Driver) carryOut(r *run, a life.Action) {
	switch a := a.(type) {
	case life.Tell:
		t.tell(r, a)
	case life.Arm:
		t.arm(r, a.Wait)
	case life.Disarm:
		r.disarm()
	case life.Post:
		t.Inbox.Post(a.Event)
	case life.Leave:
		t.leave(r)
	case life.Free:
		t.free(r.worker, a.Clean)
	case life.End:
		t.end(r, a)
	default:
		t.carryOutStart(r, a)
	}
}

// carryOutStart carries out actions that start, watch or kill a process.
func (t *Driver) carryOutStart(r *run, a life.Action) {
	switch a := a.(type) {
	case life.Launch:
		t.findProcess(r)
	case life.CancelLaunch:
		r.cancelLaunch()
	case life.Renew:
		t.renew(r, a)
	case life.Retry:
		t.retry(r, a.Full)
	case life.WatchBegin:
		t.watchBegin(r)
	case life.UnwatchBegin:
		r.onTime()
	case life.WarnGraceOver:
		t.warnGraceOver(r)
	case life.Replace:
		r.worker.trainer.Kill() // its listener hears of it
	case life.Destroy:
		t.destroy(r, a.Ignored)
	default:
		t.carryOutSave(r, a)
	}
}

// carryOutSave carries out actions about checkpoints and models.
func (t *Driver) carryOutSave(r *run, a life.Action) {
	switch a := a.(type) {
	case life.Commit:
		t.commitSave(r, a.Save)
	case life.Hold:
		t.hold(r, a.Save)
	case life.SaveAgain:
		go t.saveLater(r.Trial, r.Attempt, r.item(a.Save.ID), a.Save, a.Why)
	case life.FailSave:
		t.freeMemory(r.Trial, a.Save)
		t.post(r, saveFailed(r.Trial, r.Attempt, a.Save.ID, a.Error))
	case life.CommitExport:
		t.commitExport(r, a.Format)
	case life.FailExport:
		t.post(r, t.exportFailed(r, a))
	case life.ClearExports:
		t.clearExports(r)
	default:
		panic(fmt.Sprintf("attempt: no way to carry out %T", a))
	}
}

// tell queues a command for the run's process, and sends the queue if the command is urgent.
func (t *Driver) tell(r *run, a life.Tell) {
	a.Command.Trial, a.Command.Confirms = r.start, true // see run.recorded
	r.tell(a.Command)
	if a.Now {
		r.worker.send()
	}
}

// arm starts a wait, which replaces an earlier one.
func (t *Driver) arm(r *run, w life.Wait) {
	r.disarm()
	armed := r.armed
	r.timer = t.Clock.AfterFunc(t.length(w), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if r.armed == armed {
			t.apply(r, life.WaitOver{})
		}
	})
}

func (t *Driver) length(w life.Wait) time.Duration {
	return [...]time.Duration{life.Grace: t.Grace, life.KillGrace: killGrace, life.LastMoment: sharedGrace}[w]
}

func (r *run) disarm() {
	r.armed++
	if r.timer != nil {
		r.timer()
		r.timer = nil
	}
}

// leave removes a run: its process's events no longer reach it. A run whose models are being
// made is kept in exporting until then.
func (t *Driver) leave(r *run) {
	if r.worker != nil {
		delete(r.worker.runs, r.number)
	}
	if t.runs[r.Trial] == r {
		delete(t.runs, r.Trial)
	}
	if r.State() == life.Exporting {
		t.exporting[r.Trial] = r
	}
	t.discardCopy(r)
	if r.place.Lease != 0 {
		t.departed[r.place.Lease] = r
	}
	if t.Apart && !t.closed { // after Close nobody waits for the rest of the output
		t.leavePlace(r)
	}
	close(r.over)
}

// leavePlace fetches the rest of the run's output. The run's end is posted only after that, because the machine may
// be given back once it is posted.
func (t *Driver) leavePlace(r *run) {
	r.last.waits = true
	t.saving.Go(func() {
		t.Checkpoints.Leave(r.place, r.start)
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, e := range r.last.events {
			t.Inbox.Post(e)
		}
		r.last = withheld{}
	})
}

// post posts an event of a run, once its output is complete if it has ended.
func (t *Driver) post(r *run, e core.Event) {
	if r.last.waits {
		r.last.events = append(r.last.events, e)
		return
	}
	t.Inbox.Post(e)
}

// free keeps a process for the next trial, or retires it.
func (t *Driver) free(w *worker, clean bool) {
	switch {
	case t.Shared:
	case clean && t.reusable(w):
		t.idle = append(t.idle, w)
	default:
		t.retire(w)
	}
}

// end posts a run's end. If a run failed because the folder of all trials is gone, it ends as
// interrupted. If a run ended because its lease is taken away or lost, that is neither a failure nor its own end
// (B-075).
func (t *Driver) end(r *run, a life.End) {
	e := a.Event
	failed := e.Cause.Kind != core.CauseNone && !a.Own && !t.closed
	byItself := e.Cause.Kind == core.CauseNone && !a.Own && !t.closed && !r.StopSent()
	if e.Cause.Kind == core.CauseNone && r.hint != "" && r.Reported() == 0 && !r.StopSent() {
		e.Cause = core.Cause{Kind: core.CauseNoResult, Text: r.hint}
	}
	if failed && t.endIfTrialsGone() {
		e, failed = &core.AttemptEnded{Trial: e.Trial, Attempt: e.Attempt, Interrupted: true}, false
	}
	if byItself {
		t.unable.begins(r)
	}
	switch apart := t.Apart && r.place.Lease != 0; {
	case apart && failed && e.NeverStarted && t.GiveUp != nil && t.unable.blames(r):
		t.giveUp(r, e)
	case apart && failed:
		if e.NeverStarted {
			e.Cause = r.onNode(e.Cause)
		}
		t.await(t.doubt(r, e))
	case apart && byItself && t.Noticed != nil:
		t.inquire(t.doubt(r, e))
	default:
		t.post(r, e)
	}
}

// endIfTrialsGone ends the host if the folder of all trials is gone, since every attempt would fail.
// It reports whether it did.
func (t *Driver) endIfTrialsGone() bool {
	err := t.Storage.Check()
	if err != nil {
		t.Fail(fmt.Errorf("no trial can continue, so everything is stopped: %w", err))
	}
	return err != nil
}
