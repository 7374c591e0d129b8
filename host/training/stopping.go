package training

import (
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// killGrace is how long a trainable that was told that its grace is over has to
// be gone before its process is killed.
const killGrace = 500 * time.Millisecond

// sharedGrace is killGrace for a process that kills the programs of its trials by itself,
// and has only to say so: the programs are gone by then, and other trials would not
// survive its end.
const sharedGrace = 20 * time.Second

// watch fails a run that is silent for too long.
func (t *Driver) watch(r *run) {
	if t.Deadline == 0 {
		return
	}
	t.Clock.AfterFunc(t.Deadline-t.Clock.Since(r.heard), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch {
		case t.runs[r.trial] != r || r.worker == nil:
		case t.Clock.Since(r.heard) < t.Deadline:
			t.watch(r)
		default:
			t.hung(r)
		}
	})
}

func (t *Driver) hung(r *run) {
	t.destroy(r, &core.AttemptEnded{Cause: core.Cause{Kind: core.CauseSilent, NS: int64(t.Deadline)}})
}

// destroy kills a run's process. When that is gone, its listener tells of the
// run's end, and that it was this one.
func (t *Driver) destroy(r *run, end *core.AttemptEnded) {
	r.end = end
	r.worker.doomed = true
	r.worker.trainer.Kill()
}

// stopRun asks, waits for the grace, and then does not ask any more (B-023).
func (t *Driver) stopRun(a core.StopAttempt, dir string) {
	stop := train.Command{Kind: train.Stop, Paused: a.Paused}
	var save pendingSave
	if a.SaveID != 0 {
		staged, err := t.stage(a, dir)
		if diskspace.IsFull(err) {
			go t.stopLater(a, dir)
			return
		}
		if err != nil {
			t.cannotSave(a.Trial, a.Attempt, a.SaveID, err)
		} else {
			save, stop.Dir = staged, staged.dir
		}
	}
	there := t.with(a.Trial, a.Attempt, func(r *run) {
		r.pausing = a.Paused
		r.Stopping()
		if stop.Dir != "" {
			r.saves = append(r.saves, save)
		}
		if r.worker == nil {
			r.stop = &stop
			if r.unlaunch != nil {
				r.unlaunch()
			}
		}
		r.tell(stop)
		r.timer = t.Clock.AfterFunc(t.Grace, func() { t.outstayed(r) })
	})
	if !there && stop.Dir != "" {
		t.mu.Lock()
		t.unheld(a.Trial, save)
		t.mu.Unlock()
		t.cannotSave(a.Trial, a.Attempt, a.SaveID, nil)
	}
}

// stopLater stops a run once there is room for its last checkpoint.
func (t *Driver) stopLater(a core.StopAttempt, dir string) {
	err := t.whenRoom(func() error {
		_, err := storage.Stage(dir, a.SaveID)
		return err
	})
	if err != nil {
		t.cannotSave(a.Trial, a.Attempt, a.SaveID, err)
		a.SaveID = 0
	}
	t.stopRun(a, dir)
	t.send()
}

// killRun ends a run that was told to stop without the rest of its grace.
func (t *Driver) killRun(a core.KillAttempt) {
	var told *run
	t.with(a.Trial, a.Attempt, func(r *run) {
		if r.timer != nil {
			r.timer()
			told = r
		}
	})
	if told != nil {
		t.send() // the order to stop comes first
		t.kill(told)
	}
}

// outstayed kills a program that has had all of its grace, and says so: what it does at its end
// is cut short. The trainable says the same where its clock is the faster one.
func (t *Driver) outstayed(r *run) {
	t.mu.Lock()
	there := t.runs[r.trial] == r && r.begun && t.Programs
	t.mu.Unlock()
	if there {
		text := fmt.Sprintf("trial %d did not end within stop_grace (%v) of its stop and was killed: what it saves at its end may be missing", r.trial, t.Grace)
		t.Log.Once("hint "+text, text)
	}
	t.kill(r)
}

// kill is for a run whose grace is over: first its context, then its process.
func (t *Driver) kill(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs[r.trial] != r {
		return
	}
	if r.worker == nil { // it has only begun to start
		r.timer = t.Clock.AfterFunc(t.Grace, func() { t.kill(r) })
		return
	}
	_ = r.worker.trainer.Send([]train.Command{{Kind: train.Kill, Run: r.number}})
	r.killed = true
	r.timer = t.Clock.AfterFunc(killGrace, func() { t.force(r) })
}

func (t *Driver) force(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.runs[r.trial] != r:
	case t.Programs && !r.overdue:
		r.overdue = true
		r.timer = t.Clock.AfterFunc(sharedGrace, func() { t.force(r) })
	default:
		t.sayKilled(r)
		t.destroy(r, &core.AttemptEnded{})
	}
}

// sayKilled tells the user what a trial that does not end costs others.
func (t *Driver) sayKilled(r *run) {
	if n := len(r.worker.runs) - 1; n > 0 {
		t.Log.Warn(fmt.Sprintf("trial %d did not end within stop_grace (%v): its process is killed, and with it %d other trials, which run again from their last checkpoints; a trainable that shares its process has to look whether it was stopped",
			r.trial, t.Grace, n))
	}
}
