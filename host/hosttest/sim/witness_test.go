package sim

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/view"
)

var _ hosttest.Probe = (*world)(nil)

// Replayed implements hosttest.Probe.
func (w *world) Replayed(first uint64, records [][]byte) { w.books.replayed(first, records) }

// Appending implements hosttest.Probe.
func (w *world) Appending(records [][]byte) { w.books.appending(records) }

// Appended implements hosttest.Probe.
func (w *world) Appended(first uint64) { w.books.appended(first) }

// Applied implements hosttest.Probe.
func (w *world) Applied(e core.Event) {
	if w.options.Log != nil {
		w.log("%d %T%+v", w.books.applied+1, e, e)
	}
	switch e := e.(type) { // what was started there since is gone, too
	case *core.NodeLeft:
		w.vanish(e.ID)
	case *core.LeaseLost:
		w.evict(e.Lease)
	}
	w.books.happened(e)
}

// Hear implements hosttest.Probe.
func (w *world) Hear(events []view.Event) { w.books.heard(events) }

// Do implements hosttest.Probe.
func (w *world) Doing(a core.Action) {
	if w.options.Log != nil {
		w.log("    %T%+v", a, a)
	}
	w.books.did(a)
	switch a := a.(type) {
	case core.StartAttempt:
		w.start(a)
	case core.ContinueAttempt:
		w.continueAttempt(a)
	case core.RunAhead:
		w.runAhead(a)
	case core.SaveAttempt:
		w.save(a)
	case core.TakeCheckpoint:
		w.take(a)
	case core.StopAttempt:
		w.stop(a)
	case core.KillAttempt:
		w.heard(a.Trial, a.Attempt, func(p *proc) {
			w.of(p, 0, func() { w.end(p, core.AttemptEnded{}) })
		})
	case core.SetTimer:
		w.timer(a.At)
	case core.RequestLease, core.ReleaseLease, core.AdoptLeases:
		if w.cluster != nil {
			w.cluster.order(a)
		}
	}
}

// timer sends a tick when the running time reaches at.
func (w *world) timer(at int64) {
	w.wake = at
	in := max(at-w.books.running(), 0)
	w.later(w.number, in, func() {
		if w.wake == at {
			w.wake = 0
			w.post(&core.Ticked{})
		}
	})
}

// Remove implements hosttest.Probe.
func (w *world) Remove(no core.TrialNo, id uint32) {
	w.log("checkpoint %d of trial %d is removed", id, no)
	w.books.removed(no, id)
	if w.disks.checkpoints.Remove(checkpointName(no, id)) == nil {
		delete(w.present, ckpt{no, id})
	}
}
