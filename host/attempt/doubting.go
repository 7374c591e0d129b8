package attempt

import (
	"context"
	"time"

	"github.com/tunehost/tunehost/core"
)

// leaseEventsWithin is how long the driver waits before it posts the end of an attempt that failed on another machine.
// An engine that takes a lease away ends all processes on it. The end of the attempt arrives here before the event that
// says that the lease is lost.
const leaseEventsWithin = 2 * time.Second

// A run on another machine may have ended because of the signal with which its engine takes the lease away. The
// agent is in the same job, and gets the same signal. So if a run ends without an order, the host asks the agent
// before the end counts. An engine signals one process after the other, and the agent may be the last, so it waits
// a little before it denies. It waits for skewPart of the time that the run took, so that ends cost less than this
// part, and for maxSkew at most.
const (
	skewPart = 500
	maxSkew  = 200 * time.Millisecond
	// answersWithin is how long agents may take to answer; a connection that says nothing ends earlier.
	answersWithin = 10 * time.Second
)

// doubtful is the end of an attempt on another machine, perhaps because its lease is being taken away.
type doubtful struct {
	run *run
	end *core.AttemptEnded
}

// doubt keeps an end, which is posted later.
func (t *Driver) doubt(r *run, e *core.AttemptEnded) *doubtful {
	d := &doubtful{r, e}
	t.doubtful[r.Trial] = d
	return d
}

// await posts an end after the events of its lease.
func (t *Driver) await(d *doubtful) {
	t.Clock.AfterFunc(leaseEventsWithin, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.settle(d)
	})
}

// settle posts an end, unless it was posted meanwhile. The caller holds the lock.
func (t *Driver) settle(d *doubtful) {
	if no := d.run.Trial; t.doubtful[no] == d {
		delete(t.doubtful, no)
		t.post(d.run, d.end)
	}
}

// inquire posts the end of a run that has ended by itself. If it came with the end of its lease, the run is
// interrupted: a program that handles the signal may end without an error before its work is done.
func (t *Driver) inquire(d *doubtful) {
	within := min(t.Clock.Since(d.run.began)/skewPart, maxSkew)
	t.saving.Go(func() {
		taken := t.isTaken(d.run, within)
		t.mu.Lock()
		defer t.mu.Unlock()
		if !taken {
			t.settle(d)
			return
		}
		d.end = &core.AttemptEnded{Trial: d.end.Trial, Attempt: d.end.Attempt, Interrupted: true}
		t.await(d)
	})
}

// isTaken reports whether the lease of a run is being taken away, or cannot be reached any more.
func (t *Driver) isTaken(r *run, within time.Duration) bool {
	ctx, stop := context.WithTimeout(context.Background(), answersWithin)
	defer stop()
	go func() {
		select {
		case <-t.ending:
			stop()
		case <-ctx.Done():
		}
	}()
	taken, err := t.Noticed(ctx, r.place, max(1, len(r.start.Bundles)), within)
	return taken || err != nil
}

// excuse posts the end of an attempt that is told to stop while its end is in doubt. As with every attempt that was
// told to stop, its end is no failure: the signal with which an engine takes a lease away often ends programs before
// the host hears of it.
func (t *Driver) excuse(no core.TrialNo, attempt uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.doubtful[no]; d != nil && d.run.Attempt == attempt {
		d.end.Cause = core.Cause{}
		t.settle(d)
	}
}
