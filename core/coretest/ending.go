package coretest

import (
	"errors"

	"github.com/tunehost/tunehost/core"
)

// endings is the book of how a trial comes to its end.
type endings struct {
	stopped bool   // its attempt was told to, for good or for a failure
	done    bool   // its attempt said that a result was its last
	byUser  bool   // the user ends it
	cut     bool   // its host died before its attempt had ended
	again   bool   // it runs again up to where it was stopped
	at      uint64 // which is there
}

// stops says whether the trial ends with the attempt that runs.
func (t *account) stops() bool { return t.end.stopped || t.end.done || t.judged }

// warned takes in that the trial runs again, which ends what it was ordered.
func (t *account) warned(why core.Cause) {
	switch why.Kind {
	case core.CauseHostLost, core.CauseNodeLostSave, core.CauseCutOff:
	default:
		return
	}
	if why.Then == core.ThenNothing {
		return
	}
	t.orders = 0
	if t.end.cut = false; t.stops() && !t.end.again {
		t.end.again, t.end.at = true, t.iteration
	}
}

// mayEnd: a trial that had reported, and was ending when its host died, is not over before
// it has cleaned up; but where the user ends it, or it ends with the experiment.
func (a *audit) mayEnd(t *account) error {
	if !t.end.cut || t.end.byUser || a.spec.Manual || a.spec.Rules < core.RulesV2 || a.ends() {
		return nil
	}
	return errors.New("its host died before it had ended")
}
