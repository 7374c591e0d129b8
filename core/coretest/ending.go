package coretest

import (
	"errors"

	"github.com/tunehost/tunehost/core"
)

// endings is the account of how a trial comes to its end.
type endings struct {
	stopped bool   // its attempt was told to, for good or because of a failure
	done    bool   // its attempt said that a result was its last
	byUser  bool   // the user ends it
	cut     bool   // its host died before its attempt had ended
	again   bool   // it runs again up to where it was stopped
	at      uint64 // the iteration of that place
}

// stops reports whether the trial ends with the running attempt.
func (t *account) stops() bool { return t.end.stopped || t.end.done || t.judged }

// warned enters that the trial runs again, which cancels its orders.
func (t *account) warned(why core.Cause) {
	switch why.Kind {
	case core.CauseHostLost, core.CauseNodeLostSave, core.CauseSaveGivenUp, core.CauseExportGivenUp,
		core.CauseCutOff:
	default:
		return
	}
	if why.Then == core.ThenNothing {
		return
	}
	t.orders, t.toPause = 0, false
	if t.end.cut = false; t.stops() && !t.end.again {
		t.end.again, t.end.at = true, t.iteration
	}
}

// timeIsUp enters that the time of a trial has stopped it, which nobody says if it was told to end already.
func (a *audit) timeIsUp(e core.Event, t *account, v core.View) {
	limit := a.spec.Stop.TimeNS
	if _, ticks := e.(*core.Ticked); ticks && t.live && limit > 0 && v.TrainNS >= limit {
		t.end.stopped = true
	}
}

// mayEnd checks that a trial that had reported, and was ending when its host died, cleans up before it
// is over, unless the user ends it or it ends with the experiment.
func (a *audit) mayEnd(t *account) error {
	if !t.end.cut || t.end.byUser || a.spec.Manual || a.spec.Rules < core.RulesV2 || a.ends() {
		return nil
	}
	return errors.New("its host died before it had ended")
}
