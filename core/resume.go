package core

// apply takes over the experiment: everything that ran under an earlier host is gone, and is requeued
// before anything new (B-084). Unanswered questions to the searcher are asked again; owed decisions
// stay owed.
func (e *HostStarted) apply(m *Machine) {
	m.wall, m.host, m.hosted = e.Wall-m.now, e.Host, true
	m.judging = judging{}
	m.caller.offers = 0
	m.resumed.clear()
	m.pending.clear()
	m.unplug()
	rebooted := e.Boot == "" || e.Boot != m.boot
	m.boot, m.owing = e.Boot, 0
	if m.GoesOn() {
		m.reopen()
	}
	m.engine.takeUp()
	for no := range m.trials.len {
		m.dropState(TrialNo(no)) // it was in the memory of another host
		m.takeUp(TrialNo(no), rebooted)
	}
	m.ask = ask{}
	m.searcherLearned()
	m.wake = 0
	m.work = true
}

// GoesOn reports that there is something left to do, so that the next host continues. This excludes what
// was being ended for good when its host died.
func (m *Machine) GoesOn() bool {
	switch m.outcome {
	case 0:
		return !m.endsForGood()
	case InterruptedByUser, Failed:
		return true
	}
	return m.unfinished > 0 || !m.exhausted()
}

// unplug drops what attempts held: the ledger is new, and nothing must be returned to it.
func (m *Machine) unplug() {
	for i := range m.lives {
		m.lives[i].placed, m.lives[i].grant = false, grant{}
	}
	m.running = 0
	m.ledger.clear()
	m.engine.unplug()
	m.choose()
}

func (m *Machine) takeUp(no TrialNo, rebooted bool) {
	t := m.trial(no)
	switch t.state {
	case Running:
		m.lost(no, rebooted)
	case Pending:
		m.enqueue(no, t.front)
	}
}

// lost ends an attempt that died with its host as it was about to end.
func (m *Machine) lost(no TrialNo, rebooted bool) {
	l := m.liveOf(no)
	t := m.trial(no)
	t.spent += max(l.lastAt-l.since, 0)
	l.since, l.saving = m.now, 0
	if m.since(RulesV2) && len(l.taken) > 0 {
		m.retake(no, l, rebooted)
		return
	}
	if l.over {
		m.attemptOver(no, &l.end)
		return
	}
	if l.cut = true; m.runsAgain(no, l, &AttemptEnded{}) {
		return
	}
	switch l.intent {
	case toStop:
		m.complete(no, l.cause)
	case toFail:
		m.failed(no, l.cause, &AttemptEnded{})
	default:
		m.setAside(no, l)
	}
}
