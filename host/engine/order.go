package engine

import (
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/inbox"
)

// order holds back what a trial says after a result that the scheduler has not decided on. It is
// recorded after the decision: what counts then depends on the decision, and not on whether the trial
// or the scheduler was faster (B-009, B-102). A dying host loses what is held back; it was not
// acknowledged as recorded.
type order struct {
	kept   map[core.TrialNo][]inbox.Item
	trials []core.TrialNo // with held items, in order of arrival
	// reported are the trials with a result in the batch that may need a decision once it is applied.
	reported map[core.TrialNo]bool
}

// admit returns what can be recorded now, in the place of batch, and holds back the rest.
func (o *order) admit(m *core.Machine, batch []inbox.Item) []inbox.Item {
	if !o.needed(m) {
		return batch
	}
	clear(o.reported)
	now := batch[:0]
	for i := range batch {
		if !o.keeps(m, &batch[i]) {
			now = append(now, batch[i])
		}
	}
	return now
}

// needed reports whether order matters: a scheduler decides, and the experiment is not ending, when no
// decision is awaited.
func (o *order) needed(m *core.Machine) bool { return !m.Spec().Quiet && !m.Closing() }

// keeps checks one item, and holds it back if it must wait.
func (o *order) keeps(m *core.Machine, n *inbox.Item) bool {
	no, ok := o.trialOf(n)
	if !ok {
		return false
	}
	if len(o.kept[no]) > 0 || m.Undecided(no) || o.reported[no] {
		o.keep(no, *n)
		return true
	}
	if n.Result != nil && !n.Result.Done {
		if o.reported == nil {
			o.reported = map[core.TrialNo]bool{}
		}
		o.reported[no] = true
	}
	return false
}

// trialOf returns the trial of an item that waits for decisions: what trials report, and their ends. A
// failed save stays behind the end that came with it: the other way round it would be the cause of
// that end.
func (o *order) trialOf(n *inbox.Item) (no core.TrialNo, ok bool) {
	if n.Result != nil {
		return n.Result.Trial, true
	}
	switch e := n.Event.(type) {
	case *core.AttemptEnded:
		return e.Trial, true
	case *core.ModelExported:
		return e.Trial, true
	case *core.SaveFailed:
		return e.Trial, slices.ContainsFunc(o.kept[e.Trial], isEnd)
	}
	return 0, false
}

func isEnd(n inbox.Item) bool {
	_, ok := n.Event.(*core.AttemptEnded)
	return ok
}

func (o *order) keep(no core.TrialNo, n inbox.Item) {
	if r := n.Result; r != nil { // the sender may reuse it
		x := *r
		x.Metrics = slices.Clone(r.Metrics)
		n.Result = &x
	}
	if o.kept == nil {
		o.kept = map[core.TrialNo][]inbox.Item{}
	}
	if len(o.kept[no]) == 0 {
		o.trials = append(o.trials, no)
	}
	o.kept[no] = append(o.kept[no], n)
}

// release returns the held items that may be recorded now.
func (o *order) release(m *core.Machine) (now []inbox.Item) {
	waiting := o.trials
	o.trials = nil
	for _, no := range waiting {
		if o.needed(m) && m.Undecided(no) {
			o.trials = append(o.trials, no)
			continue
		}
		now = append(now, o.kept[no]...)
		delete(o.kept, no)
	}
	return o.admit(m, now)
}
