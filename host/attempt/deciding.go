package attempt

import "time"

// patience is how long a trial waits for the scheduler's decision on a result before it continues
// without one (B-009). A program that hears of a stop in the answer to its result can clean up;
// one that is in the middle of an epoch must be interrupted. Most schedulers decide within
// milliseconds, even on a busy machine. A slower one would delay every result.
const patience = 500 * time.Millisecond

// awaitDecision lets a run continue if the decision on its last result takes long. One timer serves all
// results of a run, because nearly all of them are decided long before. The caller holds the lock.
func (t *Driver) awaitDecision(r *run) {
	r.awaited, r.since = r.Reported(), t.Clock.Now()
	if !r.watched {
		t.watchDecision(r, patience)
	}
}

// watchDecision checks after some time whether the last result is decided. The caller holds the lock.
func (t *Driver) watchDecision(r *run, after time.Duration) {
	r.watched = true
	result := r.awaited
	t.Clock.AfterFunc(after, func() {
		if t.lateDecision(r, result) {
			t.send()
		}
	})
}

// lateDecision lets a run continue if its result is still undecided, and returns whether it did. For a result that
// was reported later, the driver waits for the rest of its time.
func (t *Driver) lateDecision(r *run, result uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.watched = false
	switch {
	case t.runs[r.Trial] != r || r.StopSent() || r.Decided(r.awaited):
		return false
	case r.awaited != result:
		t.watchDecision(r, patience-t.Clock.Since(r.since))
		return false
	}
	r.Advance(result)
	r.credit(1)
	return true
}
