package core

// stopTrial ends a trial well: immediately if nothing runs (B-020), else by stopping its attempt
// (B-021).
func (m *Machine) stopTrial(no TrialNo, why Cause) {
	switch t := m.trial(no); t.state {
	case Running:
		m.stopAttempt(no, toStop, why)
	case Pending, Paused:
		m.remove(no, why, false)
	}
}

// remove ends a trial that does not run. If the scheduler ends it (judged), its last result counts; if
// the user ends it, no result counts.
func (m *Machine) remove(no TrialNo, why Cause, judged bool) {
	t := m.trial(no)
	t.dropped = !judged
	m.setCause(t, why)
	m.move(no, Terminated)
	if !m.neverStarted(t) {
		m.forget(no)
		delete(m.asked, no)
	} else if !m.since(RulesV2) {
		m.cancelAdoption(no) // since RulesV2 the checkpoint is kept for its start
	}
	m.tell(&Observation{Kind: SawRemoved, To: ToAll, Trial: no, Attempt: t.attempt, Iteration: m.known(no).iteration,
		Last: judged, Cause: &why})
}

// stopAttempt tells the trainable to end, with a checkpoint if one is due. A stronger intent replaces
// a weaker one.
func (m *Machine) stopAttempt(no TrialNo, to intent, why Cause) {
	t := m.trial(no)
	l := m.liveOf(no)
	if !l.intent.yieldsTo(to) {
		if to == toStop && l.intent == toFail && m.since(RulesV8) {
			l.stop = why
		}
		return
	}
	if to == toRequeue && m.since(RulesV2) && l.endedWell() {
		return // it has ended, and its checkpoint will be complete
	}
	first := l.intent == noIntent
	l.intent, l.cause = to, why
	if !first || !l.placed || l.over {
		return // already told, or gone
	}
	stop := StopAttempt{Trial: no, Attempt: t.attempt, Paused: to.pauses() || to == toRequeue}
	if !m.closing.atOnce && m.savesAtStop(t, to) {
		stop.SaveID = m.newCheckpointID(t)
		l.saving++
		if stop.Memory = m.holdsInMemory(to); stop.Memory {
			l.holding = stop.SaveID
		} else {
			m.expectSave(no, l, stop.SaveID)
		}
	}
	m.do(stop)
}

// killAttempt ends an attempt that was told to stop, without waiting for it.
func (m *Machine) killAttempt(no TrialNo) {
	if l := m.liveOf(no); l.placed && !l.over {
		m.do(KillAttempt{Trial: no, Attempt: m.trial(no).attempt})
	}
}

func (e *AttemptEnded) apply(m *Machine) {
	if !m.current(e.Trial, e.Attempt) || m.liveOf(e.Trial).over {
		return
	}
	l := m.liveOf(e.Trial)
	if e.Interrupted && l.intent == noIntent {
		l.intent = toRequeue
		if e.Cause.Kind == CauseSilent {
			l.cause = e.Cause
		}
	}
	if l.saving > 0 {
		l.over, l.end = true, *e // a checkpoint in progress still counts
		return
	}
	m.attemptOver(e.Trial, e)
}

// saveOver counts a save that has ended, successfully or not; the attempt may have waited for it.
func (m *Machine) saveOver(no TrialNo, l *live) {
	l.saving = max(l.saving, 1) - 1
	if l.over && l.saving == 0 {
		if l.orphan {
			m.retaken(no)
		}
		m.attemptOver(no, &l.end)
		return
	}
	m.settle(no)
}

// attemptOver decides where a trial goes after its attempt: each intent leads to a state.
func (m *Machine) attemptOver(no TrialNo, e *AttemptEnded) {
	t := m.trial(no)
	l := m.liveOf(no)
	t.spent += m.now - l.since
	l.since = m.now
	l.saving = 0
	if m.runsAgain(no, l, e) {
		return
	}
	switch l.intent {
	case toStop:
		m.complete(no, l.cause)
	case toPause, toHold, toRequeue:
		m.setAside(no, l)
	case toFail:
		m.failed(no, l.cause, e)
	default:
		m.endedByItself(no, l, e)
	}
}

func (m *Machine) endedByItself(no TrialNo, l *live, e *AttemptEnded) {
	if !e.well() {
		m.failed(no, e.Cause, e)
		return
	}
	if why, ok := m.reachedStop(no); ok {
		m.complete(no, why)
		return
	}
	if l.reported || m.reported(no) {
		m.complete(no, m.howComplete(no, l))
		return
	}
	if why := m.howComplete(no, l); why.Kind == CauseNothingLeft && m.since(RulesV8) {
		m.complete(no, why)
		return
	}
	if m.spec.StrictMetrics && len(m.spec.Required) > 0 {
		r := m.spec.Required[0]
		m.failed(no, Cause{Kind: CauseNoResult, Metric: r.Metric, By: r.By, Text: e.Cause.Text},
			&AttemptEnded{})
		return
	}
	m.warn(no, Cause{Kind: CauseNoResult, Metric: m.wantedMetric()})
	m.complete(no, completed)
}

// howComplete says why a trial is complete that has not trained since it took over another's
// checkpoint.
func (m *Machine) howComplete(no TrialNo, l *live) Cause {
	from := l.restored
	if !m.since(RulesV2) || l.reported || from.ID == 0 || from.Trial == no || from.Trial == NoTrial {
		return completed
	}
	return Cause{Kind: CauseNothingLeft, Trial: from.Trial, Iteration: from.Iteration}
}

func (m *Machine) wantedMetric() string {
	if len(m.spec.Objectives) == 0 {
		return ""
	}
	return m.spec.Objectives[0].Metric
}

// complete tells scheduler and searcher of the end once (B-012, B-019).
func (m *Machine) complete(no TrialNo, why Cause) {
	t := m.trial(no)
	m.setCause(t, why)
	m.forget(no)
	delete(m.asked, no)
	m.move(no, Terminated)
	m.tell(&Observation{Kind: SawCompleted, To: ToAll, Trial: no, Attempt: t.attempt, Iteration: m.known(no).iteration,
		Cause: &why})
}

// forget drops what only a trial that may continue needs.
func (m *Machine) forget(no TrialNo) {
	if t := m.trial(no); t.live != 0 {
		for _, number := range m.lives[t.live-1].due {
			m.undecided.remove(number)
		}
	}
	m.dropLive(no)
	m.dropState(no)
	m.cancelAdoption(no)
	delete(m.stopsAt, no)
	delete(m.losses, no)
	delete(m.engine.withoutResult, no)
}

// setAside prepares a trial to continue later. But a trial that had said Done has ended, and a verdict
// that was not yet carried out still counts.
func (m *Machine) setAside(no TrialNo, l *live) {
	switch {
	case l.last:
		m.complete(no, completed)
	case l.verdict == Stop:
		m.complete(no, scheduled(l.why))
	case l.intent.pauses():
		m.paused(no, l)
	case l.verdict == Pause:
		l.cause = scheduled(l.why)
		m.paused(no, l)
	default:
		m.backToQueue(no, l)
	}
}

func (m *Machine) paused(no TrialNo, l *live) {
	why, by, restart := l.cause, notHeld, l.restart
	if l.intent == toHold {
		by = heldBy(l.alone)
	}
	l.restart, l.alone = false, false
	m.pause(no, why, by)
	if restart {
		m.resume(no, true)
	}
}

// pause puts a trial aside; decisions owed to it still count. Only the user can resume a held trial.
func (m *Machine) pause(no TrialNo, why Cause, by held) {
	t := m.trial(no)
	m.setCause(t, why)
	m.idle(no)
	m.move(no, Paused)
	if t.held = by; by != notHeld {
		m.held++
	}
	m.markPaused(no)
	m.tell(&Observation{Kind: SawPaused, To: ToAll, Trial: no, Attempt: t.attempt, Iteration: t.iteration, Cause: &why})
}

// markPaused notes with the results that are not decided that their trial has paused. The scheduler takes this
// pause for the one that it decides, even if the user ordered it. Otherwise its decision would pause the trial
// again after it was resumed, and nobody would want that pause.
func (m *Machine) markPaused(no TrialNo) {
	t := m.trial(no)
	if t.live == 0 || !m.since(RulesV3) {
		return
	}
	for _, number := range m.lives[t.live-1].due {
		m.undecided.find(number).paused = true
	}
}

// idle frees what a running attempt held, and keeps the rest if decisions are owed.
func (m *Machine) idle(no TrialNo) {
	t := m.trial(no)
	if t.live == 0 {
		return
	}
	l := &m.lives[t.live-1]
	m.release(l)
	m.resized(no)
	l.intent, l.verdict, l.credits = noIntent, Continue, 0
	m.dropIdle(no, l)
}

// resized applies the request that was ordered while the trial ran (B-037).
func (m *Machine) resized(no TrialNo) {
	if t := m.trial(no); t.live != 0 && m.lives[t.live-1].request != nil {
		l := &m.lives[t.live-1]
		m.asked[no], l.request = *l.request, nil
	}
}

// dropIdle drops the live part of a trial that does not run, unless decisions are owed to it or the caller
// keeps its state.
func (m *Machine) dropIdle(no TrialNo, l *live) {
	if len(l.due) == 0 && !m.spec.keepsState() {
		m.dropLive(no)
	}
}

func (m *Machine) backToQueue(no TrialNo, l *live) {
	why, lost := Cause{Kind: CauseInterrupted}, l.lost
	switch {
	case l.cause.Kind == CauseLeaseLost || l.cause.Kind == CauseLeaseEnding || l.cause.Kind == CauseSilent:
		why = l.cause
	case lost && l.grant.lease != 0:
		why.Kind = CauseLeaseLost
	case lost:
		why.Kind = CauseNodeLost
	}
	if why.Kind == CauseLeaseLost || why.Kind == CauseLeaseEnding {
		m.engine.endedEarly(no)
	}
	m.idle(no)
	m.move(no, Pending)
	if why.Kind != CauseInterrupted && m.since(RulesV2) {
		m.setCause(m.trial(no), why) // until it starts again
	}
	m.enqueue(no, !lost) // interrupted trials are the first to continue (B-076)
	m.tell(&Observation{Kind: SawRequeued, To: ToReporters, Trial: no, Attempt: m.trial(no).attempt, Cause: &why})
}

// placeLost ends an attempt whose node or lease is gone. The trial continues elsewhere. That is not a
// failure, unless it has happened too often (B-075). An attempt that had ended lost nothing, as far as
// its checkpoints can still be taken.
func (m *Machine) placeLost(no TrialNo, why Cause) {
	l := m.liveOf(no)
	if l.over && m.since(RulesV2) {
		l.nodeGone = true
		return
	}
	if l.intent == noIntent && m.mayLose(no) {
		l.intent, l.lost, l.cause = toRequeue, true, why
	}
	m.attemptOver(no, &AttemptEnded{Cause: why})
}

// mayLose counts the loss of a node, unless it is one too many.
func (m *Machine) mayLose(no TrialNo) bool {
	if m.losses[no] >= m.spec.Lost {
		return false
	}
	if m.losses == nil {
		m.losses = map[TrialNo]uint32{}
	}
	m.losses[no]++
	return true
}

// failed retries while retries are left. The searcher and the scheduler are told of the last failure
// only (B-071, B-072). A checkpoint that was damaged on disk is not a failure of the trial, which goes
// back to another one.
func (m *Machine) failed(no TrialNo, why Cause, e *AttemptEnded) {
	t := m.trial(no)
	damaged := e.Damaged && m.liveOf(no).restored.ID != 0
	m.dropState(no)
	if !damaged {
		t.failures++
	}
	retry := damaged || m.spec.Retries < 0 || int64(t.failures) <= int64(m.spec.Retries)
	if !retry || e.NeverStarted || m.endsForGood() {
		m.fail(no, why)
		return
	}
	by := m.liveOf(no).held
	if stop, ok := m.stoppedAnyway(no); ok {
		m.complete(no, stop)
		return
	}
	m.setCause(t, why)
	if e.RestoreFailed || damaged {
		m.goBack(no, &why)
		m.warn(no, why)
	}
	m.idle(no)
	m.lose(no)
	m.move(no, Pending)
	m.enqueue(no, false)
	m.tell(&Observation{Kind: SawRequeued, To: ToReporters, Trial: no, Attempt: t.attempt, Cause: &why, Retried: true})
	if by != notHeld && m.since(RulesV8) {
		m.pause(no, Cause{Kind: CauseHeld}, by)
	}
}

// stoppedAnyway reports that a trial was stopped whose attempt has failed before it was told so, and why.
func (m *Machine) stoppedAnyway(no TrialNo) (why Cause, ok bool) {
	l := m.liveOf(no)
	switch {
	case !m.since(RulesV8):
		return Cause{}, false
	case l.stop.Kind != CauseNone:
		return l.stop, true
	}
	return scheduled(l.why), l.verdict == Stop
}

// fail ends a trial in ERROR.
func (m *Machine) fail(no TrialNo, why Cause) {
	t := m.trial(no)
	m.setCause(t, why)
	m.resized(no) // for a later reset
	m.forget(no)
	m.move(no, Errored)
	m.tell(&Observation{Kind: SawFailed, To: ToAll, Trial: no, Attempt: t.attempt, Iteration: m.known(no).iteration,
		Cause: &why})
	m.afterFailure(why)
}

func (m *Machine) afterFailure(why Cause) {
	switch {
	case m.spec.FailRaise:
		m.endAtOnce(why)
	case m.spec.FailFast:
		m.end(Finished, Cause{Kind: CauseFailFast})
	case m.failuresUsedUp():
		m.end(Finished, Cause{Kind: CauseFailedBudget})
	}
}

// failuresUsedUp reports that as many trials are in ERROR as the budget allows.
func (m *Machine) failuresUsedUp() bool {
	limit := m.spec.Budget.TrialsFailed
	return limit > 0 && m.counts[Errored] >= int(limit)
}

// spent reports that the budget of failed trials is used up, so that nothing more begins.
func (m *Machine) spent() bool { return m.since(RulesV6) && m.failuresUsedUp() }
