package attempt

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// resetLimit is the time in which a reused process must begin the next trial, before a fresh
// process replaces it.
const resetLimit = 30 * time.Second

// warm returns a process that can take a run at once: an idle one at the run's place that is new
// or ran a trial with the same request (B-110). If there is none, it retires an idle process that
// blocks a new one, and returns nil.
func (t *Driver) warm(r *run) *worker {
	if t.Shared {
		return t.common[t.group(r.place)]
	}
	for i, w := range slices.Backward(t.idle) {
		if w.place.Serves(r.place) && (w.request == "" || w.request == shape(r.start)) {
			t.idle = slices.Delete(t.idle, i, i+1)
			return w
		}
	}
	// A process on another lease does not use resources that the new process needs.
	inTheWay := func(w *worker) bool { return w.place.Lease == 0 || w.place.Lease == r.place.Lease }
	if i := slices.IndexFunc(t.idle, inTheWay); i >= 0 {
		t.retire(t.idle[i])
		t.idle = slices.Delete(t.idle, i, i+1)
	}
	return nil
}

// shape returns the same text for trials with the same resources; for groups, with the same
// places too.
func shape(x *sdk.Trial) string {
	text := string(x.Resources)
	if len(x.Bundles) > 1 {
		for _, b := range x.Bundles {
			text += fmt.Sprintf("\n%q %s %q", b.Node, b.Resources, b.Devices)
		}
	}
	return text
}

// reusable reports whether a process may be kept for the next trial. A process with GPUs is
// kept only if the user wants it, since nobody sees what a trial leaves on them (B-111).
func (t *Driver) reusable(w *worker) bool {
	return t.Reuse && (t.GPUs || len(w.place.Devices) == 0)
}

// retry starts another process for a run after a while, because the machine lacked something
// for the first one, or once there is room on a full disk. The trial does not fail.
func (t *Driver) retry(r *run, full bool) {
	w, dir := r.worker, r.dir
	why, ready := w.lost, func() error { return nil }
	r.detach()
	if full {
		why, ready = syscall.ENOSPC, func() error { return storage.RoomForNew(dir) }
		t.free(w, false)
	}
	go func() {
		if t.Disk.Wait(t.ending, why, ready) == nil {
			t.again(r)
		}
	}()
}

// again starts another process for a run. Runs that shared a process share the new one too.
func (t *Driver) again(r *run) {
	if !t.Shared {
		r.restart()
		return
	}
	t.turn.Lock()
	defer t.turn.Unlock()
	if !t.share(r) {
		r.restart()
	}
	t.send()
}

// share assigns a run to the shared process, if there is one.
func (t *Driver) share(r *run) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	common := t.common[t.group(r.place)]
	if common == nil || t.closed || r.State() == life.Canceled { // launch handles the last two cases
		return false
	}
	t.assign(r, common, false)
	return true
}

// group returns the lease whose trials share a process with trials at a place; 0: all trials share one.
func (t *Driver) group(p exec.Place) core.LeaseID {
	if t.Apart {
		return p.Lease
	}
	return 0
}

// renew starts a fresh process for a run whose reused process could not be reset. The trial
// does not fail.
func (t *Driver) renew(r *run, a life.Renew) {
	t.Log.Info(fmt.Sprintf("trial %d gets a fresh process: that of the last trial could not be reset: %s", r.Trial,
		a.Why))
	if a.Retire {
		t.retire(r.worker)
	}
	r.detach()
	go r.restart()
}

// detach removes a run from its process.
func (r *run) detach() {
	delete(r.worker.runs, r.number)
	r.worker = nil
}

// release retires the idle processes on a lease that is given back.
func (t *Driver) release(lease core.LeaseID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.departed, lease)
	t.idle = slices.DeleteFunc(t.idle, func(w *worker) bool {
		if w.place.Lease == lease {
			t.retire(w)
		}
		return w.place.Lease == lease
	})
	if common := t.common[lease]; t.Apart && common != nil && len(common.runs) == 0 {
		delete(t.common, lease)
		t.retire(common)
	}
}

// retire closes a process in the background.
func (t *Driver) retire(w *worker) {
	delete(t.workers, w)
	t.leaving.Go(func() { _ = w.trainer.Close() })
}
