package core

import "math"

func (e *Ticked) apply(m *Machine) {
	m.wake = 0
	if b := m.spec.Budget.TimeNS; b > 0 && m.Counted() >= b {
		m.end(Finished, Cause{Kind: CauseTimeBudget})
	}
	if m.spent() {
		m.end(Finished, Cause{Kind: CauseFailedBudget})
	}
	for {
		d, ok := m.deadline.first()
		if !ok || d.at > m.now {
			break
		}
		m.deadline.pop()
		if m.current(d.trial, d.attempt) {
			m.timeIsUp(d.trial)
		}
	}
	if m.waitUntil > 0 && m.now >= m.waitUntil {
		m.waitUntil = 0
		m.status = SearcherReady
		m.work = true
	}
}

// timeIsUp stops a trial, unless its limit was raised in the meantime; then it sets another deadline.
func (m *Machine) timeIsUp(no TrialNo) {
	if limit := m.spec.Stop.TimeNS; limit > 0 && !m.rerun(no) && m.trainingTime(m.trial(no)) >= limit {
		m.stopTrial(no, Cause{Kind: CauseTimeReached})
	}
}

// setTimer asks for the next tick that matters.
func (m *Machine) setTimer() {
	if m.outcome != 0 {
		return
	}
	next := int64(never)
	if b := m.spec.Budget.TimeNS; b > 0 && m.closing.outcome == 0 {
		next = m.whenCounted(b)
	}
	if m.spent() && m.closing.outcome == 0 {
		next = m.now // after what a host begins with: that may raise the limit, or run failed trials again
	}
	for {
		d, ok := m.deadline.first()
		if ok && !m.current(d.trial, d.attempt) {
			m.deadline.pop()
			continue
		}
		if ok {
			next = min(next, d.at)
		}
		break
	}
	if m.closing.outcome == 0 && !m.judging.asked {
		next = min(next, m.whenJudged())
	}
	if m.waitUntil > 0 {
		next = min(next, m.waitUntil)
	}
	if m.engine.wake > 0 {
		next = min(next, m.engine.wake)
	}
	if next != never && next != m.wake {
		m.wake = next
		m.do(SetTimer{next})
	}
}

// never is a time that does not come.
const never = math.MaxInt64

// Counted is the running time that counts for the time budget.
func (m *Machine) Counted() int64 {
	switch {
	case !m.since(RulesV5):
		return m.now
	case m.onHold:
		return m.holdAt - m.holdNS
	}
	return m.now - m.holdNS
}

// whenCounted returns when so much time will have counted, which is never while the experiment is paused.
func (m *Machine) whenCounted(ns int64) int64 {
	switch {
	case !m.since(RulesV5):
		return ns
	case m.onHold && m.Counted() < ns:
		return never
	}
	return ns + m.holdNS
}
