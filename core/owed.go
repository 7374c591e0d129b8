package core

import (
	"slices"
	"strconv"
)

// A checkpoint that a program has handed over, or has saved when it was asked to, is owed
// from the record of its result on. Where the host dies before it is whole, the next host
// takes it from where it lies, and the attempt is over when that is done: no trial is
// completed with its last checkpoint missing. One that is not there whole any more has
// the trial run again from the one before.

// sentence is where a trial that runs again was stopped, and why.
type sentence struct {
	iteration uint64
	why       string
}

// retake has the checkpoints of an attempt taken that were under way when its host died.
func (m *Machine) retake(no TrialNo, l *live, rebooted bool) {
	if !l.over {
		l.over, l.end = true, AttemptEnded{}
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

// runsAgain has a trial that would end run again, where a checkpoint is missing, and says
// whether it does. One that the user ends, or that ends with the experiment, stays ended.
func (m *Machine) runsAgain(no TrialNo, l *live, e *AttemptEnded) bool {
	why, ends := l.ending(e)
	if !l.missing || !ends {
		return false
	}
	t := &m.trials[no]
	lost := "its checkpoint of iteration " + strconv.FormatUint(t.iteration, 10) +
		" is lost, because the host died before it was kept; "
	if m.closing.outcome != 0 || l.byUser {
		m.warn(no, lost+"an older one is its newest")
		return false
	}
	if why != "" {
		m.stopsAt[no] = sentence{t.iteration, why}
	}
	m.warn(no, lost+"the trial runs again from "+m.startingPoint(no))
	l.last = false
	m.backToQueue(no, l)
	return true
}

func (m *Machine) startingPoint(no TrialNo) string {
	if x := m.restorePoint(no); x.ID != 0 {
		return "iteration " + strconv.FormatUint(x.Iteration, 10)
	}
	return "the beginning"
}

// ending says whether the end of the attempt is that of its trial, and which rule or
// decision has stopped it.
func (l *live) ending(e *AttemptEnded) (why string, ends bool) {
	switch {
	case l.intent == toStop:
		return l.text, true
	case l.intent == toFail, e.Error != "":
		return "", false
	case l.verdict == Stop:
		return l.why, true
	}
	return "", l.intent == noIntent || l.last
}

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
