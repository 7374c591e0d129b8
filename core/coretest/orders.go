package coretest

import (
	"errors"

	"github.com/tunehost/tunehost/core"
)

// orderBook is what was ordered for a trial and must not be forgotten, whatever its attempt does meanwhile.
type orderBook struct {
	toEnd   bool // by its scheduler or its user
	toPause bool // by its user, who was told that it will
	wasHeld bool // before the event
	mayHold bool // the user has paused it, and has not resumed it since
	alone   bool // by itself, perhaps, so that it may not continue with the experiment
}

// beforeOrders enters the orders of an event.
func (a *audit) beforeOrders(e core.Event) {
	for _, t := range a.trials {
		t.wasHeld = a.m.View(t.no).Held
	}
	switch e := e.(type) {
	case *core.StopRequested:
		if t := a.trial(e.Trial); t != nil && !e.All {
			a.mustEnd(t)
		}
	case *core.SchedulerDecided:
		for _, c := range e.Commands {
			if t := a.trial(c.Trial); t != nil && c.Kind == core.EndTrial {
				a.mustEnd(t)
				t.judged = t.judged || a.was[t.no] == core.Running && a.spec.Rules >= core.RulesV8
			}
		}
	case *core.PauseRequested:
		for _, t := range a.trials {
			if e.All || t.no == e.Trial {
				t.toPause = t.toPause || pausable(a.m.View(t.no))
				t.mayHold, t.alone = true, t.alone || !e.All
			}
		}
	case *core.UnpauseRequested:
		for _, t := range a.trials {
			t.toPause = t.toPause && !e.All && t.no != e.Trial
			t.resumed(e)
		}
	}
}

// resumed enters that the user resumes a trial, or the experiment.
func (t *account) resumed(e *core.UnpauseRequested) {
	switch {
	case e.All:
		t.mayHold = t.mayHold && t.alone
	case t.no == e.Trial:
		t.mayHold, t.alone = false, false
	}
}

func (a *audit) mustEnd(t *account) { t.toEnd = t.toEnd || !a.was[t.no].Final() }

// pausable reports whether a user's request to pause the trial is accepted.
func pausable(v core.View) bool {
	return v.State == core.Pending || v.State == core.Running && !v.Stopping && !v.Pausing
}

// obeyed checks that a trial whose attempt is over has done what was ordered, and that only the user resumes what the
// user has paused. A trial that cleans up after its host died ends where it was stopped.
func (a *audit) obeyed(e core.Event, t *account, v core.View) error {
	if a.spec.Rules < core.RulesV8 || t.live || v.State.Final() || t.end.again {
		return nil
	}
	_, user := e.(*core.UnpauseRequested)
	switch {
	case t.toEnd:
		return errors.New("it was ordered to end, and is " + v.State.String())
	case t.toPause && !v.Held:
		return errors.New("the user has paused it, and it is " + v.State.String())
	case v.Held && !t.mayHold:
		return errors.New("the user has resumed it, or has never paused it, and it is " + v.State.String())
	case t.wasHeld && !v.Held && !user:
		return errors.New("the user has paused it, and something else resumed it")
	}
	return nil
}
