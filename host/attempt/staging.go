package attempt

import "github.com/tunehost/tunehost/core"

// A trainable that is told to stop before it is asked for a checkpoint has ended when it is asked. On another machine
// the folder of a checkpoint takes a round trip, so an order to stop waits for the folders that were asked for before
// it, and for that of its own checkpoint. An order to kill does not wait.

// staging are the folders for checkpoints of a run that are being made on another machine.
type staging struct {
	folders int
	stop    func() // the order to stop that waits; nil: none does
}

// makesFolder notes that a folder is being made for a run, and returns the run; nil: it is over.
func (t *Driver) makesFolder(no core.TrialNo, attempt uint32) (of *run) {
	t.with(no, attempt, func(r *run) {
		of = r
		r.folders++
	})
	return of
}

// folderMade carries out the order to stop that has waited for a folder, which is there or cannot be made.
func (t *Driver) folderMade(r *run) {
	if r == nil {
		return
	}
	t.mu.Lock()
	var stop func()
	if r.folders--; r.folders == 0 {
		stop, r.stop = r.stop, nil
	}
	t.mu.Unlock()
	if stop != nil {
		stop()
		t.send()
	}
}

// stopWaits keeps an order to stop while folders are being made for its run, and reports whether it does.
func (t *Driver) stopWaits(a core.StopAttempt, dir string) (waits bool) {
	t.with(a.Trial, a.Attempt, func(r *run) {
		if waits = r.folders > 0; waits {
			r.stop = func() { t.stopNow(a, dir) }
		}
	})
	return waits
}

// stopWaitsNoMore carries out an order to stop before its attempt is killed.
func (t *Driver) stopWaitsNoMore(a core.KillAttempt) {
	var stop func()
	t.with(a.Trial, a.Attempt, func(r *run) { stop, r.stop = r.stop, nil })
	if stop != nil {
		stop()
	}
}
