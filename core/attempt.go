package core

// stopTrial ends a trial well: at once where nothing runs (B-020), else by
// stopping its attempt (B-021).
func (m *Machine) stopTrial(no TrialNo, why Cause) {
	switch t := &m.trials[no]; t.state {
	case Running:
		m.stopAttempt(no, toStop, why)
	case Pending, Paused:
		m.remove(no, why, false)
	}
}

// remove ends a trial that does not run. One that the scheduler ends (judged)
// is known by its last result; one that the user ends is known by none.
func (m *Machine) remove(no TrialNo, why Cause, judged bool) {
	t := &m.trials[no]
	t.dropped = !judged
	m.because(t, why)
	m.move(no, Terminated)
	if !m.neverStarted(t) {
		m.forget(no)
		delete(m.asked, no)
	} else if !m.since(RulesV2) {
		m.forgo(no) // later rules keep the checkpoint that it would start from
	}
	m.tell(Observation{Kind: SawRemoved, To: ToAll, Trial: no, Attempt: t.attempt, Iteration: m.known(no).iteration,
		Last: judged, Cause: &why})
}

// stopAttempt tells the trainable to end, with a checkpoint where one is due.
// A stronger intent replaces a weaker one.
func (m *Machine) stopAttempt(no TrialNo, to intent, why Cause) {
	t := &m.trials[no]
	l := m.liveOf(no)
	if !l.intent.gives(to) {
		return
	}
	if to == toRequeue && m.since(RulesV2) && l.endedWell() {
		return // it has ended, and its checkpoint will be whole
	}
	first := l.intent == noIntent
	l.intent, l.cause = to, why
	if !first || !l.placed || l.over {
		return // told already, or gone
	}
	stop := StopAttempt{Trial: no, Attempt: t.attempt, Paused: to.pauses() || to == toRequeue}
	if !m.closing.atOnce && m.savesAtStop(t, to) {
		stop.SaveID = m.newCheckpointID(t)
		l.saving++
		if stop.Memory = m.holdsInMemory(to); stop.Memory {
			l.holding = stop.SaveID
		} else {
			m.owes(no, l, stop.SaveID)
		}
	}
	m.do(stop)
}

// killAttempt ends an attempt that was told to stop, without the time to do so.
func (m *Machine) killAttempt(no TrialNo) {
	if l := m.liveOf(no); l.placed && !l.over {
		m.do(KillAttempt{Trial: no, Attempt: m.trials[no].attempt})
	}
}

func (e *AttemptEnded) apply(m *Machine) {
	if !m.current(e.Trial, e.Attempt) || m.liveOf(e.Trial).over {
		return
	}
	l := m.liveOf(e.Trial)
	if e.Interrupted && l.intent == noIntent {
		l.intent = toRequeue
	}
	if l.saving > 0 {
		l.over, l.end = true, *e // a checkpoint on its way still counts
		return
	}
	m.attemptOver(e.Trial, e)
}

// saveOver counts a save that has ended, well or not; the attempt may have
// waited for it.
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

// attemptOver is where a running trial goes on from: each intent has its state.
func (m *Machine) attemptOver(no TrialNo, e *AttemptEnded) {
	t := &m.trials[no]
	l := m.liveOf(no)
	t.spent += m.now - t.attemptAt
	t.attemptAt = m.now
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
	if why, ok := m.served(no); ok {
		m.complete(no, why)
		return
	}
	if l.reported || m.reported(no) {
		m.complete(no, m.howComplete(no, l))
		return
	}
	if m.spec.StrictMetrics && len(m.spec.Required) > 0 {
		r := m.spec.Required[0]
		m.failed(no, Cause{Kind: CauseNoResult, Metric: r.Metric, By: r.By}, &AttemptEnded{})
		return
	}
	m.warn(no, Cause{Kind: CauseNoResult, Metric: m.wantedMetric()})
	m.complete(no, completed)
}

// howComplete says why a trial is complete that has not trained on since it took over
// another one's checkpoint.
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
	t := &m.trials[no]
	m.because(t, why)
	m.forget(no)
	delete(m.asked, no)
	m.move(no, Terminated)
	m.tell(Observation{Kind: SawCompleted, To: ToAll, Trial: no, Attempt: t.attempt, Iteration: m.known(no).iteration,
		Cause: &why})
}

// forget drops what only a trial that goes on needs.
func (m *Machine) forget(no TrialNo) {
	if t := &m.trials[no]; t.live != 0 {
		for _, number := range m.lives[t.live-1].due {
			delete(m.owed, number)
		}
	}
	m.dropLive(no)
	m.dropState(no)
	m.forgo(no)
	delete(m.stopsAt, no)
	delete(m.losses, no)
}

// setAside takes a trial off that is to go on: but one that had said Done has
// ended, and a verdict that had not been carried out still counts.
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
	why, held, restart := l.cause, l.intent == toHold, l.restart
	l.restart = false
	m.pause(no, why, held)
	if restart {
		m.resume(no, true)
	}
}

// pause puts a trial aside; decisions owed to it still count. One that is held is the
// user's to resume.
func (m *Machine) pause(no TrialNo, why Cause, held bool) {
	t := &m.trials[no]
	m.because(t, why)
	m.idle(no)
	m.move(no, Paused)
	if held {
		t.held = true
		m.held++
	}
	m.tell(Observation{Kind: SawPaused, To: ToAll, Trial: no, Attempt: t.attempt, Iteration: t.iteration, Cause: &why})
}

// idle frees what a running attempt held, and keeps the rest if decisions are
// owed.
func (m *Machine) idle(no TrialNo) {
	t := &m.trials[no]
	if t.live == 0 {
		return
	}
	l := &m.lives[t.live-1]
	m.release(l)
	m.resized(no)
	l.intent, l.verdict, l.credits = noIntent, Continue, 0
	m.rest(no, l)
}

// resized: from here on the trial asks for what was ordered while it ran (B-037).
func (m *Machine) resized(no TrialNo) {
	if t := &m.trials[no]; t.live != 0 && m.lives[t.live-1].request != nil {
		l := &m.lives[t.live-1]
		m.asked[no], l.request = *l.request, nil
	}
}

// rest drops the live part of a trial that does not run, unless decisions are
// owed to it or it goes on where it is.
func (m *Machine) rest(no TrialNo, l *live) {
	if len(l.due) == 0 && !m.spec.Manual {
		m.dropLive(no)
	}
}

func (m *Machine) backToQueue(no TrialNo, l *live) {
	why, lost := Cause{Kind: CauseInterrupted}, l.lost
	if lost {
		why.Kind = CauseNodeLost
	}
	m.idle(no)
	m.move(no, Pending)
	m.enqueue(no, !lost) // what was interrupted is the first to go on (B-076)
	m.tell(Observation{Kind: SawRequeued, To: ToReporters, Trial: no, Attempt: m.trials[no].attempt, Cause: &why})
}

// nodeLost ends an attempt whose node is gone. The trial goes on elsewhere, which is not
// a failure, unless this has happened to it too often (B-075). An attempt that had ended
// lost nothing, as far as its checkpoints can still be taken.
func (m *Machine) nodeLost(no TrialNo) {
	l := m.liveOf(no)
	if l.over && m.since(RulesV2) {
		l.nodeGone = true
		return
	}
	if l.intent == noIntent && m.mayLose(no) {
		l.intent, l.lost = toRequeue, true
	}
	m.attemptOver(no, &AttemptEnded{Cause: Cause{Kind: CauseNodeLost}})
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

// failed retries while retries are left; only the last failure is told to the
// searcher and the scheduler (B-071, B-072). A checkpoint that was damaged on
// disk is nobody's failure: the trial goes back to another.
func (m *Machine) failed(no TrialNo, why Cause, e *AttemptEnded) {
	t := &m.trials[no]
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
	m.because(t, why)
	if e.RestoreFailed || damaged {
		m.goBack(no, &why)
		m.warn(no, why)
	}
	m.idle(no)
	m.lose(no)
	m.move(no, Pending)
	m.enqueue(no, false)
	m.tell(Observation{Kind: SawRequeued, To: ToReporters, Trial: no, Attempt: t.attempt, Cause: &why, Retried: true})
}

// fail ends a trial in ERROR.
func (m *Machine) fail(no TrialNo, why Cause) {
	t := &m.trials[no]
	m.because(t, why)
	m.resized(no) // where it is run again
	m.forget(no)
	m.move(no, Errored)
	m.tell(Observation{Kind: SawFailed, To: ToAll, Trial: no, Attempt: t.attempt, Iteration: m.known(no).iteration,
		Cause: &why})
	m.afterFailure(why)
}

func (m *Machine) afterFailure(why Cause) {
	switch limit := m.spec.Budget.TrialsFailed; {
	case m.spec.FailRaise:
		m.endAtOnce(why)
	case m.spec.FailFast:
		m.end(Finished, Cause{Kind: CauseFailFast})
	case limit > 0 && m.counts[Errored] >= int(limit):
		m.end(Finished, Cause{Kind: CauseFailedBudget})
	}
}
