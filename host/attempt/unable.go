package attempt

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
)

// A trial that cannot start on one node may be able to on another: programs such as Python may be missing on one.
// Its lease is given up then, as if it were lost, unless programs of this experiment have started on that node. A trial
// that could start nowhere is in error.
//
// maxUnable is on how many nodes a trial may be unable to start before that is its own fault, or on how many leases
// while no program has started anywhere.
const maxUnable = 3

// unable has what the driver knows of nodes and trials that could not start there.
type unable struct {
	able    map[string]bool // nodes on which programs have started
	nodes   map[core.TrialNo]map[string]bool
	tries   map[core.TrialNo]int
	nowhere bool // a trial could start on none of its leases, when none had started anywhere
}

// begins notes that a run has begun: it reports, or has ended by itself. That a trainable says that it has started
// does not show that its program has.
func (u *unable) begins(r *run) {
	if r.begun {
		return
	}
	r.begun = true
	if u.able == nil {
		u.able = map[string]bool{}
	}
	u.able[r.place.Node] = true
	delete(u.nodes, r.Trial)
	delete(u.tries, r.Trial)
}

// blames reports whether a node is to blame that a trial could not start there.
func (u *unable) blames(r *run) bool {
	if u.able[r.place.Node] {
		return false
	}
	if u.nodes == nil {
		u.nodes, u.tries = map[core.TrialNo]map[string]bool{}, map[core.TrialNo]int{}
	}
	if u.nodes[r.Trial] == nil {
		u.nodes[r.Trial] = map[string]bool{}
	}
	u.nodes[r.Trial][r.place.Node] = true
	u.tries[r.Trial]++
	if len(u.able) > 0 {
		return len(u.nodes[r.Trial]) < maxUnable // failures.lost limits how often on the same node
	}
	u.nowhere = u.nowhere || u.tries[r.Trial] >= maxUnable
	return !u.nowhere
}

// giveUp gives up the lease of a run that could not start on its node. The granter's event ends the attempt; its own
// end counts only if the lease is over for another reason.
func (t *Driver) giveUp(r *run, e *core.AttemptEnded) {
	why := fmt.Sprintf("a trial could not start on the node %s: %s", r.place.Node, e.Cause.Text)
	t.saving.Go(func() {
		t.GiveUp(r.place.Lease, why)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.post(r, &core.AttemptEnded{Trial: e.Trial, Attempt: e.Attempt, Interrupted: true})
	})
}

// onNode adds the node to the cause of a trial that could not start there.
func (r *run) onNode(c core.Cause) core.Cause {
	if r.place.Node != "" && c.Kind == core.CauseTrainable {
		c.Text += fmt.Sprintf("; this was on the node %s", r.place.Node)
	}
	return c
}
