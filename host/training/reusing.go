package training

import (
	"fmt"
	"slices"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// resetLimit is how long a process that has run a trial may take to begin the next
// one, before it is replaced by a fresh one.
const resetLimit = 30 * time.Second

// warm finds a process that can take a trial at once: one that nothing was trained
// in, or that was trained in with the same request and devices (B-110). Where those
// that wait are of other requests, one of them is let go for the one that will be
// started.
func (t *Driver) warm(x *sdk.Trial) *worker {
	if t.Shared {
		return t.common
	}
	for i, w := range slices.Backward(t.idle) {
		if slices.Equal(w.devices, x.Devices) && (w.request == "" || w.request == shape(x)) {
			t.idle = slices.Delete(t.idle, i, i+1)
			return w
		}
	}
	if len(t.idle) > 0 {
		t.retire(t.idle[0])
		t.idle = t.idle[1:]
	}
	return nil
}

// shape is the same text for trials that were granted the same: of a group, each
// place of it, too.
func shape(x *sdk.Trial) string {
	text := string(x.Resources)
	if len(x.Bundles) > 1 {
		for _, b := range x.Bundles {
			text += fmt.Sprintf("\n%q %s %q", b.Node, b.Resources, b.Devices)
		}
	}
	return text
}

// reusable says whether a process is kept for the next trial, after a run that ended
// well. With GPUs that is only where the user wants it: what a trial leaves on them
// nobody sees (B-111).
func (t *Driver) reusable(w *worker) bool {
	return t.Reuse && (t.GPUs || len(w.devices) == 0)
}

// retry gives a run another process that has not begun in one for which the machine lacked
// something, when a moment has passed; it says whether it does. No trial fails for that.
func (t *Driver) retry(r *run, err error) bool {
	if r.timer != nil || t.closed || r.stop != nil {
		return false
	}
	r.onTime()
	delete(r.worker.runs, r.number)
	r.worker, r.warm = nil, false
	go func() {
		if t.Disk.Wait(t.ending, err, func() error { return nil }) == nil {
			t.again(r)
		}
	}()
	return true
}

// again starts another process for a run; runs that shared one share the new one, too.
func (t *Driver) again(r *run) {
	if !t.Shared {
		r.anew()
		return
	}
	t.turn.Lock()
	defer t.turn.Unlock()
	if !t.share(r) {
		r.anew()
	}
	t.send()
}

// share gives a run the process of the others, where there is one.
func (t *Driver) share(r *run) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.common == nil || t.closed || r.stop != nil { // launch ends the last two
		return false
	}
	t.assign(r, t.common)
	return true
}

// renew gives a run that has not begun in the process of another a fresh one, and
// says whether it did: its trial does not fail for that.
func (t *Driver) renew(r *run, why string) bool {
	if !r.warm || r.timer != nil || t.closed {
		return false
	}
	t.Log.Info(fmt.Sprintf("trial %d gets a fresh process: that of the last trial could not be reset: %s", r.trial, why))
	r.onTime()
	delete(r.worker.runs, r.number)
	r.worker, r.warm, r.begun, r.waiting = nil, false, false, false
	go r.anew()
	return true
}
