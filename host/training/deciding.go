package training

import "time"

// patience is how long an answer waits for the scheduler's decision before the trial is
// let train on without it (B-009). A program that is told to stop in its answer can clean
// up; one that is stopped in the middle of an epoch has to be interrupted. Schedulers that
// compute decide within milliseconds, also on a busy machine; one that takes longer than
// this would hold up each result of each trial.
const patience = 500 * time.Millisecond

// awaitDecision lets a run go on when the decision on its last result takes long. It needs
// the lock.
func (t *Driver) awaitDecision(r *run) {
	result := r.Reported()
	t.Clock.AfterFunc(patience, func() {
		t.mu.Lock()
		late := t.runs[r.trial] == r && r.timer == nil && r.Advance(result)
		if late {
			r.credit(1)
		}
		t.mu.Unlock()
		if late {
			t.send()
		}
	})
}
