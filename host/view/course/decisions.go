package course

import (
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// Rung is an iteration at which the scheduler has stopped trials early or paused them.
type Rung struct {
	Iteration       uint64
	Stopped, Paused int
	// Reason is why it has stopped or paused Trial, the last one there.
	Trial  core.TrialNo
	Reason string
}

// due is a result that the scheduler owes a decision on.
type due struct {
	trial     core.TrialNo
	iteration uint64
}

// mostRungs is how many rungs are kept: a scheduler that may stop a trial at any iteration has none.
const mostRungs = 256

// mostOpen is how many undecided results there may be until those are removed that will not be decided.
const mostOpen = 4096

// Decisions counts what the scheduler decided at each iteration.
type Decisions struct {
	open  Open
	rungs map[uint64]*Rung
	many  bool
}

func (d *Decisions) result(o *core.Observation) {
	if !o.Due || d.many {
		return
	}
	d.open.Put(o.Number, o.Trial, o.Iteration)
}

// event is called before the step's results are taken.
func (d *Decisions) event(x *history.Step) {
	e, ok := x.Event.(*core.SchedulerDecided)
	if !ok || d.many {
		return
	}
	for _, one := range e.Decisions {
		if trial, iteration, ok := d.open.Take(one.Number); ok {
			d.count(due{trial, iteration}, one)
		}
	}
	if d.open.Len() > mostOpen { // of trials that have ended before the decision
		d.open.Drop(e.Through)
	}
}

func (d *Decisions) count(of due, one core.Decision) {
	if one.Verdict == core.Continue || one.Verdict == core.Stop && Finished(one.Reason) {
		return
	}
	r := d.rungs[of.iteration]
	if r == nil {
		if r = new(Rung); len(d.rungs) == mostRungs {
			*d = Decisions{many: true}
			return
		}
		if d.rungs == nil {
			d.rungs = map[uint64]*Rung{}
		}
		r.Iteration = of.iteration
		d.rungs[of.iteration] = r
	}
	r.Trial, r.Reason = of.trial, one.Reason
	if one.Verdict == core.Stop {
		r.Stopped++
	} else {
		r.Paused++
	}
}

// Finished reports whether a scheduler says that a trial has trained as long as it lets any: that trial is complete.
func Finished(reason string) bool { return strings.HasPrefix(reason, "finished") }

// Rungs returns the iterations at which the scheduler has stopped or paused trials, in no order; none if there are
// more than a scheduler with rungs has.
func (d *Decisions) Rungs() (list []Rung) {
	for _, r := range d.rungs {
		list = append(list, *r)
	}
	return list
}

func (d *Decisions) bytes() int64 { return int64(d.open.Len()+len(d.rungs)) * 64 }
