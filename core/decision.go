package core

import (
	"slices"

	"github.com/tunehost/tunehost/core/resource"
)

// apply takes one answer of the scheduler: first all decisions, so that those on one trial are
// combined (B-010), then each trial once, then the commands.
func (e *SchedulerDecided) apply(m *Machine) {
	m.decided = max(m.decided, e.Through)
	for _, d := range e.Decisions {
		m.note(d)
	}
	for _, d := range e.Decisions {
		if o := m.undecided.find(d.Number); o != nil {
			no := o.trial
			m.undecided.remove(d.Number)
			m.settle(no)
		}
	}
	for _, c := range e.Commands {
		m.command(c)
	}
	for _, c := range e.Commands {
		if c.Kind == Resize && c.Request != nil {
			m.resizeLater(c.Trial)
		}
	}
}

// scheduled returns a cause with the scheduler's reason.
func scheduled(words string) Cause { return Cause{Kind: CauseScheduler, Text: words} }

// note keeps the strongest verdict for the trial.
func (m *Machine) note(d Decision) {
	o := m.undecided.find(d.Number)
	if o == nil {
		return // already decided, or its trial has ended
	}
	t := m.trial(o.trial)
	l := m.liveOf(o.trial)
	i := slices.Index(l.due, d.Number)
	if i < 0 {
		return // twice in one answer
	}
	l.due = slices.Delete(l.due, i, i+1)
	t.until = max(t.until, d.Until)
	if m.rerun(o.trial) {
		return // it was stopped after that result
	}
	if d.Verdict == Pause && o.paused {
		return // that was its pause
	}
	if d.Verdict > l.verdict {
		l.verdict, l.why = d.Verdict, d.Reason
	}
	if d.Verdict == Continue && o.attempt == t.attempt {
		l.credits++
	}
}

// settle carries out what is decided, unless it waits for a save (B-011).
func (m *Machine) settle(no TrialNo) {
	t := m.trial(no)
	if t.live == 0 {
		return
	}
	l := &m.lives[t.live-1]
	if t.state != Running {
		m.settleIdle(no, l)
		return
	}
	if (m.waitsForSave(l) || l.over) && l.intent == noIntent || l.last {
		return // the save comes first, or it ends by itself
	}
	switch {
	case l.verdict == Stop:
		m.stopTrial(no, scheduled(l.why))
	case l.intent != noIntent:
	case l.verdict == Pause:
		m.stopAttempt(no, toPause, scheduled(l.why))
	case l.credits > 0:
		m.goOn(l, ContinueAttempt{no, t.attempt, l.credits})
		l.credits = 0
	}
}

// goOn lets an attempt continue. Its results are usually decided one by one, with equal actions, of which one is
// enough: an action takes memory.
func (m *Machine) goOn(l *live, a ContinueAttempt) {
	if l.goOn != a {
		l.goOn = a
	}
	m.do(l.goOn)
}

// settleIdle carries out a verdict on a trial that ran when its result was told and does not run any
// more.
func (m *Machine) settleIdle(no TrialNo, l *live) {
	v, why := l.verdict, l.why
	l.verdict = Continue
	m.dropIdle(no, l)
	switch {
	case v == Stop && !m.trial(no).state.Final():
		m.remove(no, scheduled(why), true)
	case v == Pause && m.trial(no).state == Pending:
		m.pause(no, scheduled(why), notHeld)
	}
}

// command carries out an order; it drops one that no longer fits.
func (m *Machine) command(c Command) {
	if c.Kind == EndAll {
		m.end(Finished, scheduled(c.Reason))
		return
	}
	if int(c.Trial) >= m.trials.len {
		return
	}
	switch c.Kind {
	case Resume:
		m.wakeUp(c.Trial)
	case EndTrial:
		m.endCommanded(c)
	case Exploit:
		m.exploit(c)
	case Resize:
		m.resize(c.Trial, c.Request)
	}
}

// endCommanded ends a trial in whatever state it is. One that runs is stopped as by a decision, so that the order
// is kept while the trial starts, saves or pauses.
func (m *Machine) endCommanded(c Command) {
	switch s := m.trial(c.Trial).state; {
	case s == Paused || s == Pending:
		m.remove(c.Trial, scheduled(c.Reason), true)
	case s == Running && m.since(RulesV8) && !m.rerun(c.Trial):
		l := m.liveOf(c.Trial)
		if l.verdict < Stop {
			l.verdict, l.why = Stop, c.Reason
		}
		m.settle(c.Trial)
	}
}

// wakeUp is resume for the scheduler, which does not undo a pause of the user.
func (m *Machine) wakeUp(no TrialNo) {
	if !m.heldByUser(no) {
		m.resume(no, true)
	}
}

// heldByUser reports that the user has paused the trial, or that it pauses for the user.
func (m *Machine) heldByUser(no TrialNo) bool {
	t := m.trial(no)
	if !m.since(RulesV8) || t.state != Running {
		return m.since(RulesV8) && t.held != notHeld
	}
	return m.liveOf(no).held != notHeld
}

// resume queues a paused trial; one that is about to pause is queued after that.
func (m *Machine) resume(no TrialNo, front bool) {
	t := m.trial(no)
	if t.state == Running && t.live != 0 {
		l := &m.lives[t.live-1]
		l.restart = l.restart || l.pausing()
		l.alone, l.held = false, notHeld // also if its attempt is about to fail
		return
	}
	if t.state != Paused {
		return
	}
	m.setCause(t, Cause{})
	m.move(no, Pending)
	m.enqueue(no, front)
}

func (m *Machine) enqueue(no TrialNo, front bool) {
	t := m.trial(no)
	t.front = front
	t.ticket++
	if front {
		m.resumed.push(no, t.ticket)
	} else {
		m.pending.push(no, t.ticket)
	}
	m.work = true
}

// resize changes what a trial asks for, unless it runs (B-037). If the same answer pauses it, the
// change holds from the pause on.
func (m *Machine) resize(no TrialNo, r *resource.Request) {
	if r == nil {
		return
	}
	switch {
	case m.trial(no).state != Running:
		m.asked[no] = *r
		m.work = true
	case m.since(RulesV2):
		m.liveOf(no).request = r
	default:
		m.warnRunning(no)
	}
}

// resizeLater refuses the new request of a running trial, unless its attempt is about to end and it
// continues later.
func (m *Machine) resizeLater(no TrialNo) {
	if !m.exists(no) || m.trial(no).state != Running {
		return
	}
	if l := m.liveOf(no); l.request != nil && !l.pausing() && l.intent != toRequeue {
		l.request = nil
		m.warnRunning(no)
	}
}

func (m *Machine) warnRunning(no TrialNo) {
	m.warn(no, Cause{Kind: CauseResizeRefused})
}

// exploit lets a trial continue from another's checkpoint, or from its own with other parameters, from
// its next start on. A running attempt does not change.
func (m *Machine) exploit(c Command) {
	if m.isEnding(c.Trial) {
		return
	}
	from, ok := m.checkpointAt(c.Donor, c.Iteration)
	if !ok || c.Donor == c.Trial && c.Params == nil {
		m.warn(c.Trial, Cause{Kind: CauseExploitRefused})
		m.resumePaused(c.Trial)
		return
	}
	m.willAdopt(c, from)
	if m.trial(c.Trial).state == Running {
		l := m.liveOf(c.Trial)
		l.restart = l.restart || !m.heldByUser(c.Trial)
		m.stopAttempt(c.Trial, toPause, scheduled(c.Reason))
		return
	}
	m.resumePaused(c.Trial)
}

// isEnding reports that the trial has ended, or will end with its present attempt.
func (m *Machine) isEnding(no TrialNo) bool {
	t := m.trial(no)
	if t.state != Running || m.rerun(no) {
		return t.state.Final() || m.rerun(no)
	}
	l := m.liveOf(no)
	return l.last || l.intent == toStop
}

func (m *Machine) resumePaused(no TrialNo) {
	if m.trial(no).state == Paused {
		m.wakeUp(no)
	}
}
