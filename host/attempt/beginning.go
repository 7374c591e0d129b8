package attempt

import (
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/deadlines"
)

// watchBegin reports a process that does not say in time that it has started the run. The
// user gets a notice before.
func (t *Driver) watchBegin(r *run) {
	limit := t.Begin
	if r.Warm() && r.worker.request != "" {
		limit = min(limit, resetLimit)
	}
	if limit == 0 {
		return
	}
	notice := deadlines.Notice(limit)
	r.late = []func() bool{
		t.whileUnbegun(r, notice, func() {
			t.Log.Once("begin", fmt.Sprintf("trainable %q has not said for %s that trial %d has started (STARTED); it "+
				"is given up after %s (deadlines.begin)",
				t.Name, deadlines.Text(notice), r.Trial, deadlines.Text(limit)))
		}),
		t.whileUnbegun(r, limit, func() { t.neverBegan(r, limit) }),
	}
}

// whileUnbegun calls f under the lock after a time, if the run is still starting in the same
// process.
func (t *Driver) whileUnbegun(r *run, after time.Duration, f func()) func() bool {
	w := r.worker
	return t.Clock.AfterFunc(after, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if r.worker == w && r.State() == life.Starting {
			f()
		}
	})
}

// neverBegan handles a run that has not started in time.
func (t *Driver) neverBegan(r *run, limit time.Duration) {
	why := core.Cause{Kind: core.CauseNotBegun, By: t.Name, NS: int64(limit)}
	t.apply(r, life.NotBegun{Cause: why, Others: t.Shared && r.worker.busyWithout(r)})
}

// busyWithout reports whether other runs have begun in the process.
func (w *worker) busyWithout(r *run) bool {
	for _, other := range w.runs {
		if other != r && other.Begun() {
			return true
		}
	}
	return false
}

// onTime stops the timers of watchBegin.
func (r *run) onTime() {
	for _, stop := range r.late {
		stop()
	}
	r.late = nil
}
