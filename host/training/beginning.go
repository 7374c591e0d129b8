package training

import (
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// watchBegin gives up a process that does not say that a trial has started. The user
// is told before.
func (t *Driver) watchBegin(r *run) {
	limit := t.Begin
	if r.warm && r.worker.request != "" {
		limit = min(limit, resetLimit)
	}
	if limit == 0 {
		return
	}
	notice := deadlines.Notice(limit)
	r.late = []func() bool{
		t.whileUnbegun(r, notice, func() {
			t.Log.Once("begin", fmt.Sprintf("trainable %q has not said for %s that trial %d has started (STARTED); it is given up after %s (deadlines.begin)",
				t.Name, deadlines.Text(notice), r.trial, deadlines.Text(limit)))
		}),
		t.whileUnbegun(r, limit, func() { t.neverBegan(r, limit) }),
	}
}

// whileUnbegun calls f, under the lock, if the run has not started by then and
// nobody has told it to stop.
func (t *Driver) whileUnbegun(r *run, after time.Duration, f func()) func() bool {
	w := r.worker
	return t.Clock.AfterFunc(after, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.runs[r.trial] == r && r.worker == w && !r.begun && !r.waiting && r.timer == nil {
			f()
		}
	})
}

// neverBegan ends a run that has not started in time. One in the process of another
// gets a fresh one; else its trial fails, alone where others run in the same process.
func (t *Driver) neverBegan(r *run, limit time.Duration) {
	why := core.Cause{Kind: core.CauseNotBegun, By: t.Name, NS: int64(limit)}
	switch {
	case r.warm:
		r.worker.trainer.Kill() // its listener hears of it
	case t.Shared && r.worker.busyWithout(r):
		r.nonsense = why
		_ = r.worker.trainer.Send([]train.Command{{Kind: train.Kill, Run: r.number}}) // a failed process says so itself
		r.timer = t.Clock.AfterFunc(sharedGrace, func() { t.abandon(r) })
	default:
		t.destroy(r, &core.AttemptEnded{Cause: why})
	}
}

// busyWithout says whether other runs have begun in the process.
func (w *worker) busyWithout(r *run) bool {
	for _, other := range w.runs {
		if other != r && other.begun {
			return true
		}
	}
	return false
}

// abandon ends a run that does not end by itself, and leaves its process alone.
func (t *Driver) abandon(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs[r.trial] == r {
		t.endRun(r, &core.AttemptEnded{})
	}
}

// onTime ends the watch.
func (r *run) onTime() {
	for _, stop := range r.late {
		stop()
	}
	r.late = nil
}
