package core

func (e *StopRequested) apply(m *Machine) {
	if e.All {
		m.end(StoppedByUser, Cause{Kind: CauseUser, Text: e.Reason})
		return
	}
	if m.exists(e.Trial) {
		m.stopTrial(e.Trial, Cause{Kind: CauseUser, Text: e.Reason})
		if m.trial(e.Trial).state == Running {
			m.liveOf(e.Trial).byUser = true
		}
	}
}

func (m *Machine) exists(no TrialNo) bool { return int(no) < m.trials.len }

// apply pauses one trial, or the experiment: then nothing new begins either.
func (e *PauseRequested) apply(m *Machine) {
	if e.All && !m.onHold {
		m.onHold, m.holdAt = true, m.now
	}
	m.each(e.Trial, e.All, func(no TrialNo) { m.userPause(no, !e.All) })
}

func (e *UnpauseRequested) apply(m *Machine) {
	whole := e.All && m.onHold && m.since(RulesV4)
	if e.All && m.onHold {
		m.holdNS += m.now - m.holdAt
	}
	if e.All {
		m.onHold, m.work = false, true
	}
	m.each(e.Trial, e.All, func(no TrialNo) {
		if !whole || m.pausedWithAll(no) {
			m.resume(no, false)
		}
	})
}

// pausedWithAll reports that a trial is paused, or about to be, because the user has paused the experiment as a whole.
func (m *Machine) pausedWithAll(no TrialNo) bool {
	if m.trial(no).state == Running {
		l := m.liveOf(no)
		return l.intent == toHold && !l.alone || l.held == heldWithAll
	}
	return m.trial(no).held == heldWithAll
}

func (m *Machine) each(no TrialNo, all bool, f func(TrialNo)) {
	if !all {
		if m.exists(no) {
			f(no)
		}
		return
	}
	for no := range m.trials.len {
		f(TrialNo(no))
	}
}

// userPause pauses a trial. If the scheduler had paused it in memory and it waits to continue, it
// stays in memory: no attempt could save its state, which is newer than its last checkpoint.
func (m *Machine) userPause(no TrialNo, alone bool) {
	switch m.trial(no).state {
	case Running:
		l := m.liveOf(no)
		if l.restart && l.intent == toPause && m.since(RulesV8) {
			l.intent, l.cause = toHold, Cause{Kind: CauseHeld} // else nobody would resume it
		}
		l.restart, l.alone = false, l.alone || alone // the last order counts
		m.stopAttempt(no, toHold, Cause{Kind: CauseHeld})
		if l.intent == toHold || l.intent == toFail {
			l.held = heldBy(l.alone)
		}
	case Pending:
		m.pause(no, Cause{Kind: CauseHeld}, heldBy(alone))
	}
}

func (e *TrialReset) apply(m *Machine) {
	if !m.resettable(e) {
		return
	}
	t := m.trial(e.Trial)
	why := Cause{Kind: CauseReset}
	if e.Unstarted {
		why.Kind = CauseUnstarted
		m.setCause(t, why)
	}
	t.failures, t.noRestore, t.noStart, t.dropped = 0, e.Scratch || e.Fresh, false, false
	if e.Fresh {
		m.leaveDir(e.Trial)
	}
	m.trustAgain(e.Trial)
	m.reopen()
	m.lose(e.Trial)
	m.move(e.Trial, Pending)
	m.enqueue(e.Trial, false)
	m.tell(&Observation{Kind: SawRequeued, To: ToReporters, Trial: e.Trial, Attempt: t.attempt, Cause: &why})
}

// resettable reports that the trial is in the state that the event names. An experiment that a running
// host is ending is not continued.
func (m *Machine) resettable(e *TrialReset) bool {
	if !m.exists(e.Trial) || e.Steered && m.closing.outcome != 0 {
		return false
	}
	if e.Unstarted {
		return m.neverStarted(m.trial(e.Trial))
	}
	return m.trial(e.Trial).state == Errored
}

// neverStarted reports that the trial ended while it waited for its first start.
func (m *Machine) neverStarted(t *trial) bool { return t.state == Terminated && t.attempt == 0 }

func (e *Interrupted) apply(m *Machine) {
	if m.since(RulesV2) && m.endsForGood() {
		return
	}
	m.end(InterruptedByUser, Cause{Kind: CauseInterrupted})
}

func (e *PluginFailed) apply(m *Machine) { m.end(Failed, e.Cause) }
