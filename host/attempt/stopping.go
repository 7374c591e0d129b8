package attempt

import (
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/storage/diskspace"
)

// killGrace is how long a trainable has to end an attempt that it was told to kill, before its
// process is killed.
const killGrace = 500 * time.Millisecond

// sharedGrace is added to killGrace for a process that kills the programs of its trials itself.
// The programs are gone by then, and killing the process would end other trials.
const sharedGrace = 20 * time.Second

// watch reports a run that is silent for too long.
func (t *Driver) watch(r *run) {
	if t.Deadline == 0 {
		return
	}
	t.Clock.AfterFunc(t.Deadline-t.Clock.Since(r.heard), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch {
		case t.runs[r.Trial] != r || r.worker == nil:
		case t.Clock.Since(r.heard) < t.Deadline:
			t.watch(r)
		default:
			t.apply(r, life.Silent{Cause: core.Cause{Kind: core.CauseSilent, NS: int64(t.Deadline)}})
		}
	})
}

// destroy kills a run's process, whose listener then reports the run's end. Ignored says that
// the run did not stop when told; the user is told what that costs other trials.
func (t *Driver) destroy(r *run, ignored bool) {
	if ignored {
		t.warnKilled(r)
	}
	r.worker.doomed = true
	r.worker.trainer.Kill()
}

// stopRun tells a run to end, after a last checkpoint if the core wants one.
func (t *Driver) stopRun(a core.StopAttempt, dir string) {
	if !t.stopWaits(a, dir) {
		t.stopNow(a, dir)
	}
}

// stopNow tells a run to end, whatever folders are being made for it.
func (t *Driver) stopNow(a core.StopAttempt, dir string) {
	if a.SaveID == 0 {
		t.stopSaving(a, life.Save{})
		return
	}
	save, done, err := t.stage(a, dir, true)
	if diskspace.IsFull(err) || err == nil && !done {
		t.with(a.Trial, a.Attempt, func(r *run) { r.stop = func() { t.stopSaving(a, life.Save{}) } })
		go t.stopLater(a, dir)
		return
	}
	t.staged(a, save, err)
}

// staged tells a run to end, with a last checkpoint if there is a folder for it.
func (t *Driver) staged(a core.StopAttempt, save life.Save, err error) {
	if err != nil {
		t.cannotSaveThere(a.Trial, a.Attempt, a.SaveID, err.Error())
		save = life.Save{}
	}
	t.stopSaving(a, save)
}

// stopSaving tells a run to end. If save has an id, the run saves before that.
func (t *Driver) stopSaving(a core.StopAttempt, save life.Save) {
	stop := func(r *run) { t.apply(r, life.Stop{Paused: a.Paused, Save: save}) }
	if t.with(a.Trial, a.Attempt, stop) {
		return
	}
	t.excuse(a.Trial, a.Attempt)
	if save.ID != 0 {
		t.mu.Lock()
		t.freeMemory(a.Trial, save)
		t.mu.Unlock()
		t.cannotSave(a.Trial, a.Attempt, a.SaveID, life.HadEnded)
	}
}

// stopLater tells a run to end once there is a folder for its last checkpoint.
func (t *Driver) stopLater(a core.StopAttempt, dir string) {
	var save life.Save
	err := t.whenRoom(func() (err error) {
		save, _, err = t.stage(a, dir, false)
		return err
	})
	t.with(a.Trial, a.Attempt, func(r *run) { r.stop = nil })
	t.staged(a, save, err)
	t.send()
}

// warnGraceOver tells the user that a program is killed because its grace is over. The trainable
// may say the same before.
func (t *Driver) warnGraceOver(r *run) {
	text := fmt.Sprintf("trial %d did not end within stop_grace (%v) of its stop and was killed: what it saves at "+
		"its end may be missing", r.Trial, t.Grace)
	t.Log.Once("hint "+text, text)
}

// warnKilled tells the user which other trials end with a process that is killed.
func (t *Driver) warnKilled(r *run) {
	if n := len(r.worker.runs) - 1; n > 0 {
		t.Log.Warn(fmt.Sprintf("trial %d did not end within stop_grace (%v): its process is killed, and with it %d "+
			"other trials, which run again from their last checkpoints; a trainable that shares its process must "+
			"check whether it was stopped",
			r.Trial, t.Grace, n))
	}
}
