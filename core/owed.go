package core

import "slices"

// A checkpoint that a program has handed over, or has saved when it was asked to, is owed
// from the record of its result on. Where the host dies before it is whole, the next host
// takes it from where it lies, and the attempt is over when that is done: no trial is
// completed with its last checkpoint missing. One that is not there whole any more has
// the trial run again from the one before.

// A trial that was ending when its host died, and whose end nobody has seen, may have been
// at its clean-up: the model that it writes, or the last checkpoint that it hands over. It
// runs again, too, up to where it was stopped, and ends there for the same reason. So does
// one that had said Done: a program says so before it cleans up.

// sentence is where a trial that runs again was stopped, and why.
type sentence struct {
	iteration uint64
	why       Cause
}

// retake has the checkpoints of an attempt taken that were under way when its host died.
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
		m.do(TakeCheckpoint{Trial: no, Attempt: m.trials[no].attempt, ID: c.ref.ID, Iteration: c.ref.Iteration,
			Path: c.path, Again: true, Rebooted: rebooted})
	}
}

// retaken: what a lost attempt owed has been taken, or is known to be missing.
func (m *Machine) retaken(no TrialNo) {
	m.owing--
	m.work = true
	m.trials[no].attemptAt = m.now // nobody trained meanwhile
}

// runsAgain has a trial that would end run again, where a checkpoint is missing or its
// host died before it had ended, and says whether it does. One that the user ends, or that
// ends with the experiment, stays ended.
func (m *Machine) runsAgain(no TrialNo, l *live, e *AttemptEnded) bool {
	why, ends := l.ending(e)
	cut := l.cut && m.cutOff(l, why)
	if !ends || !l.missing && !cut {
		return false
	}
	t := &m.trials[no]
	lost := Cause{Kind: l.whoDied(), Iteration: t.iteration}
	switch {
	case m.endsForGood() || l.byUser:
		if l.missing {
			m.warn(no, lost)
		}
		return false
	case l.missing:
		m.startsFrom(no, &lost)
		m.warn(no, lost)
	default:
		cut := Cause{Kind: CauseCutOff}
		m.startsFrom(no, &cut)
		m.warn(no, cut)
	}
	m.sentenced(no, why)
	m.forgo(no) // what it was ordered to go on from before it was stopped
	l.last = false
	m.backToQueue(no, l)
	return true
}

// whoDied is why a checkpoint is missing that had been handed over.
func (l *live) whoDied() CauseKind {
	if l.lost {
		return CauseNodeLostSave
	}
	return CauseHostLost
}

// cutOff says whether an attempt that died with its host may have been at its clean-up: it
// was told to stop, or would have been, or had said that it was done. One that never
// reported has nothing to clean up, and one whose state the caller keeps is its own.
func (m *Machine) cutOff(l *live, why Cause) bool {
	return m.since(RulesV2) && !m.spec.Manual && l.reported && why.Kind != CauseNone
}

// sentenced has a trial that runs again stop where it was stopped.
func (m *Machine) sentenced(no TrialNo, why Cause) {
	if _, already := m.stopsAt[no]; why.Kind != CauseNone && !already {
		m.stopsAt[no] = sentence{m.trials[no].iteration, why}
	}
}

// served says whether a trial that runs again is where it was stopped, and why it was.
func (m *Machine) served(no TrialNo) (why Cause, ok bool) {
	s, ok := m.stopsAt[no]
	return s.why, ok && m.trials[no].iteration >= s.iteration
}

// rerun says whether a trial runs again that was stopped before.
func (m *Machine) rerun(no TrialNo) bool {
	_, ok := m.stopsAt[no]
	return ok
}

// stopAgain answers a program that has gone on from a checkpoint of the iteration at which
// its trial was stopped. Its result is one that comes after the stop (B-010).
func (m *Machine) stopAgain(e *ResultReported) {
	if !m.current(e.Trial, e.Attempt) {
		return
	}
	why, ok := m.served(e.Trial)
	if l := m.liveOf(e.Trial); ok && !l.over && !l.reported {
		l.reported = true
		m.stopTrial(e.Trial, why)
	}
}

// ending says whether the end of the attempt is that of its trial, and which rule or
// decision has stopped it.
func (l *live) ending(e *AttemptEnded) (why Cause, ends bool) {
	switch {
	case l.intent == toStop:
		return l.cause, true
	case l.intent == toFail, !e.well():
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

// Owed calls f for each checkpoint that is under way, and is to be taken again by the next
// host if this one dies.
func (m *Machine) Owed(f func(CheckpointRef)) {
	if !m.since(RulesV2) {
		return
	}
	for no := range m.trials {
		if t := &m.trials[no]; t.state == Running && t.live != 0 {
			for _, c := range m.lives[t.live-1].taken {
				f(c.ref)
			}
		}
	}
}

// owes notes a checkpoint that the trainable is asked for as it ends.
func (m *Machine) owes(no TrialNo, l *live, id uint32) {
	if m.since(RulesV2) {
		l.taken = append(l.taken, m.snapshot(no, l, id, m.trials[no].iteration))
	}
}

// drops takes a checkpoint that has failed off the list, and says whether the program had
// made it by itself.
func (l *live) drops(id uint32) (handed bool) {
	i := slices.IndexFunc(l.taken, func(c checkpoint) bool { return c.ref.ID == id })
	if i < 0 {
		return false
	}
	handed = l.taken[i].path != ""
	l.taken = slices.Delete(l.taken, i, i+1)
	return handed
}
