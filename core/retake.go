package core

import "slices"

// A checkpoint that a program has handed over, or has saved on request, is owed from the record of its
// result on. If the host dies before it is complete, the next host takes it from where it lies, and
// the attempt is over only after that: no trial completes without its last checkpoint. If it is not
// complete any more, the trial runs again from the one before.

// A trial that was ending when its host died, and whose end is not recorded, may have been cleaning
// up: writing its model, or handing over its last checkpoint. It also runs again, up to where it was
// stopped, and ends there for the same reason. So does one that had said Done: a program says so
// before it cleans up.

// earlierStop is where a trial that runs again was stopped, and why.
type earlierStop struct {
	iteration uint64
	why       Cause
}

// retake takes the checkpoints of an attempt that were in progress when its host died.
func (m *Machine) retake(no TrialNo, l *live, rebooted bool) {
	if !l.over {
		l.over, l.end, l.cut = true, AttemptEnded{}, true
		if l.intent == noIntent {
			l.intent = toRequeue
		}
	}
	l.orphan, l.saving = true, uint32(len(l.taken))
	m.owing++
	for _, c := range l.taken {
		m.do(TakeCheckpoint{Trial: no, Attempt: m.trial(no).attempt, ID: c.ref.ID, Iteration: c.ref.Iteration,
			Path: c.path, Again: true, Rebooted: rebooted})
	}
}

// retaken ends a lost attempt once its owed checkpoints are taken or known to be missing.
func (m *Machine) retaken(no TrialNo) {
	m.owing--
	m.work = true
	m.liveOf(no).since = m.now // no training happened meanwhile
}

// runsAgain runs a trial again instead of ending it, if a checkpoint or a model is missing or its host died
// before it had ended, and reports whether it does. A trial that the user ends, or that ends with the
// experiment, stays ended.
func (m *Machine) runsAgain(no TrialNo, l *live, e *AttemptEnded) bool {
	why, ends := m.endedAs(no, l, e)
	cut := l.cut && m.cutOff(l, why)
	lacks := l.missing || l.unexported != ""
	if !ends || !lacks && !cut {
		return false
	}
	lost := l.whatIsLost(m.trial(no).iteration)
	switch {
	case m.endsForGood() || l.byUser:
		if lacks {
			m.warn(no, lost)
		}
		return false
	case lacks:
		m.startsFrom(no, &lost)
		m.warn(no, lost)
	default:
		cut := Cause{Kind: CauseCutOff}
		m.startsFrom(no, &cut)
		m.warn(no, cut)
	}
	m.stopAt(no, why)
	m.cancelAdoption(no) // drop an exploit ordered before the stop
	l.last = false
	m.backToQueue(no, l)
	return true
}

// whatIsLost returns what an attempt that has reached an iteration should have left: a checkpoint, or else a model.
func (l *live) whatIsLost(iteration uint64) Cause {
	if !l.missing {
		return Cause{Kind: CauseExportGivenUp, Text: l.unexported}
	}
	return Cause{Kind: l.whoDied(), Iteration: iteration}
}

// whoDied returns why a handed-over checkpoint is missing.
func (l *live) whoDied() CauseKind {
	switch {
	case l.gaveUp:
		return CauseSaveGivenUp
	case l.lost:
		return CauseNodeLostSave
	}
	return CauseHostLost
}

// cutOff reports whether an attempt that died with its host may have been cleaning up: it was told to
// stop, or would have been, or had said Done. One that never reported has nothing to clean up, and one
// whose state the caller keeps is excluded.
func (m *Machine) cutOff(l *live, why Cause) bool {
	return m.since(RulesV2) && !m.spec.keepsState() && l.reported && why.Kind != CauseNone
}

// stopAt lets a trial that runs again stop where it was stopped.
func (m *Machine) stopAt(no TrialNo, why Cause) {
	if _, already := m.stopsAt[no]; why.Kind != CauseNone && !already {
		m.stopsAt[no] = earlierStop{m.trial(no).iteration, why}
	}
}

// reachedStop reports whether a trial that runs again is where it was stopped, and why it was stopped.
func (m *Machine) reachedStop(no TrialNo) (why Cause, ok bool) {
	if len(m.stopsAt) == 0 {
		return Cause{}, false // nearly always: it is asked twice for each result
	}
	s, ok := m.stopsAt[no]
	return s.why, ok && m.trial(no).iteration >= s.iteration
}

// rerun reports whether a trial runs again that was stopped before.
func (m *Machine) rerun(no TrialNo) bool {
	_, ok := m.stopsAt[no]
	return ok
}

// stopAgain answers a program that has continued from a checkpoint of the iteration at which its trial
// was stopped. Its result comes after the stop (B-010).
func (m *Machine) stopAgain(e *ResultReported) {
	if !m.current(e.Trial, e.Attempt) {
		return
	}
	why, ok := m.reachedStop(e.Trial)
	if l := m.liveOf(e.Trial); ok && !l.over && !l.reported {
		l.reported = true
		m.stopTrial(e.Trial, why)
	}
}

// endedAs reports whether the end of the attempt is that of its trial, and which rule or decision has
// stopped it.
func (m *Machine) endedAs(no TrialNo, l *live, e *AttemptEnded) (why Cause, ends bool) {
	switch {
	case l.intent == toStop:
		return l.cause, true
	case l.intent == toFail:
		return m.stoppedAnyway(no)
	case !e.well():
		return Cause{}, false
	case l.verdict == Stop:
		return scheduled(l.why), true
	}
	if l.last {
		return completed, true
	}
	return Cause{}, l.intent == noIntent
}

var completed = Cause{Kind: CauseCompleted}

// EachUnfinished calls f for each checkpoint in progress that the next host must take again if this one dies.
func (m *Machine) EachUnfinished(f func(CheckpointRef)) {
	if !m.since(RulesV2) {
		return
	}
	for no := range m.trials.len {
		if t := m.trial(TrialNo(no)); t.state == Running && t.live != 0 {
			for _, c := range m.lives[t.live-1].taken {
				f(c.ref)
			}
		}
	}
}

// expectSave records that the trainable is asked for a checkpoint when it ends.
func (m *Machine) expectSave(no TrialNo, l *live, id uint32) {
	if m.since(RulesV2) {
		l.taken = append(l.taken, m.snapshot(no, l, id, m.trial(no).iteration))
	}
}

// drops removes a failed checkpoint from the list, and reports whether the program had made it by
// itself.
func (l *live) drops(id uint32) (handed bool) {
	i := slices.IndexFunc(l.taken, func(c checkpoint) bool { return c.ref.ID == id })
	if i < 0 {
		return false
	}
	handed = l.taken[i].path != ""
	l.taken = slices.Delete(l.taken, i, i+1)
	return handed
}
