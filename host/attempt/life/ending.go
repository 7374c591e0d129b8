package life

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// note keeps the content of an order to stop.
func (l *Life) note(e Stop) {
	l.pausing, l.told = e.Paused, true
	l.Stopping()
	l.order = train.Command{Kind: train.Stop, Credits: l.Confirm(), Paused: e.Paused, Dir: e.Save.Dir}
	if e.Save.ID != 0 {
		l.saves = append(l.saves, e.Save)
	}
}

// stop tells the process to stop the attempt, and starts the grace (B-023).
func (l *Life) stop(e Stop) State {
	l.note(e)
	l.tell(l.order)
	l.arm(Grace)
	return Stopping
}

// stopAgain passes on a new order. The first grace continues.
func (l *Life) stopAgain(e Stop) State {
	l.note(e)
	l.tell(l.order)
	return l.state
}

// cancel stops an attempt that has no process yet.
func (l *Life) cancel(e Stop) State {
	l.note(e)
	l.do(CancelLaunch{})
	l.arm(Grace)
	return Canceled
}

func (l *Life) cancelAgain(e Stop) State {
	l.note(e)
	return Canceled
}

// waitOn starts the grace again, since there is no process to kill.
func (l *Life) waitOn() State {
	l.arm(Grace)
	return Canceled
}

// refuse fails an attempt whose trainable makes an invalid report (B-070). It is told to stop, and
// ignored until its end.
func (l *Life) refuse(e InvalidReport) State {
	l.fault, l.ignoring = e.Cause, true
	l.do(Tell{Command: train.Command{Kind: train.Stop, Credits: MaxFinal + 1}, Now: true}) // answers what is refused
	if l.told {
		return l.state
	}
	l.arm(Grace)
	return Stopping
}

func (l *Life) refuseDying(e InvalidReport) State {
	l.fault, l.ignoring = e.Cause, true
	return Dying
}

// killAfterGrace kills an attempt that has used up its grace.
func (l *Life) killAfterGrace(WaitOver) State {
	if l.begun && l.Programs && l.fault.Kind == core.CauseNone {
		l.do(WarnGraceOver{})
	}
	return l.kill()
}

// kill tells the process to kill the attempt. If it does not, the process itself is killed.
func (l *Life) kill() State {
	l.tellNow(train.Kill)
	l.arm(KillGrace)
	return Killing
}

func (l *Life) killOverdue(Kill) State {
	l.kill()
	return Overdue
}

// force kills the process of an attempt that does not end. A process that kills programs itself
// first gets a last moment to do so.
func (l *Life) force(WaitOver) State {
	if l.Programs && l.state == Killing {
		l.arm(LastMoment)
		return Overdue
	}
	return l.destroy(core.AttemptEnded{}, true)
}

func (l *Life) silent(e Silent) State { return l.destroy(core.AttemptEnded{Cause: e.Cause}, false) }

// destroy kills the attempt's process. When it is gone, the attempt ends with end.
func (l *Life) destroy(end core.AttemptEnded, ignored bool) State {
	l.last = end
	l.disarm()
	l.do(Destroy{Ignored: ignored})
	return Dying
}

// finish handles the end that the trainable reports. An attempt that could not start in a reused
// process gets a fresh one.
func (l *Life) finish(e Finished) State {
	if e.NeverStarted && l.Reported() == 0 && l.warm && !l.told && !l.closing && l.state != Dying {
		return l.renew(e.Error, true)
	}
	if e.NeverStarted && e.Full && (l.state == Starting || l.state == Waiting) && !l.closing {
		l.unwatch()
		l.do(Retry{Full: true})
		return Launching
	}
	end := core.AttemptEnded{Cause: core.TrainableFailure(e.Error), NeverStarted: e.NeverStarted,
		RestoreFailed: e.RestoreFailed}
	if l.told {
		end.Cause = core.Cause{} // it ended because it was told to
	}
	clean := end.Cause.Kind == core.CauseNone && l.fault.Kind == core.CauseNone && l.state < Killing
	next := l.end(end)
	l.do(Free{Clean: clean})
	return next
}

// losesProcess ends an attempt whose process is gone. If the process was killed because of another
// attempt, this one is interrupted, which is no failure.
func (l *Life) losesProcess(e ProcessLost) State {
	if e.Doomed {
		return l.end(core.AttemptEnded{Interrupted: true})
	}
	return l.end(core.AttemptEnded{Cause: core.TrainableFailure(e.Error + e.LastOutput), NeverStarted: e.NeverStarted})
}

func (l *Life) closeHost(HostClosing) State {
	l.closing = true
	return l.state
}

func (l *Life) endAsTold() State { return l.end(core.AttemptEnded{}) }

// end reports the end, and the saves that are still open, at once or when the attempt's models
// are made.
func (l *Life) end(e core.AttemptEnded) State {
	e.Trial, e.Attempt = l.Trial, l.Attempt
	if l.fault.Kind != core.CauseNone {
		e.Cause, e.NeverStarted, e.RestoreFailed = l.fault, false, false
	}
	l.disarm()
	l.unwatch()
	l.do(Leave{})
	last := l.lastActions(&e)
	if len(l.Export) == 0 || l.closing { // the next host runs it again
		l.do(last...)
		return Ended
	}
	l.withheld = last
	if l.making == 0 {
		l.do(ClearExports{})
	}
	return Exporting
}

// lastActions returns the actions with which an attempt ends.
func (l *Life) lastActions(e *core.AttemptEnded) (list []Action) {
	if l.endsWell(e) {
		list = l.unanswered()
	}
	list = append(list, End{Event: e, Own: l.fault.Kind != core.CauseNone})
	for _, s := range l.saves {
		list = append(list, FailSave{s, HadEnded})
	}
	return list
}
