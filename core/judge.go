package core

// judging is what the machine knows of the budget's expression, which the host evaluates.
type judging struct {
	asked  bool // JudgeBudget waits for its answer
	known  bool // there was an answer for the numbers below
	ended  int  // trials that had ended
	failed int  // those of them in ERROR
	next   int64
}

// An expression that uses the time is tested again when a thousandth of the time has passed, but not more often
// than this: the record stays short.
const (
	judgeNS    = 250e6
	judgeParts = 1000
)

func (m *Machine) judges() bool { return m.since(RulesV7) && m.spec.Budget.Judged }

// unjudged reports that trials have ended or will run again, and that the expression was not tested since then.
func (m *Machine) unjudged() bool {
	j := &m.judging
	return m.judges() && (!j.known || j.failed != m.counts[Errored] || j.ended != m.endedTrials())
}

func (m *Machine) endedTrials() int { return m.counts[Errored] + m.counts[Terminated] }

// judge asks the host where something that the expression uses has changed.
func (m *Machine) judge() {
	if m.judging.asked || !m.judges() || !m.hosted || m.outcome != 0 || m.closing.outcome != 0 {
		return
	}
	if m.unjudged() || m.now >= m.whenJudged() {
		m.judging.asked = true
		m.do(JudgeBudget{})
	}
}

// whenJudged returns when the time asks for the next test.
func (m *Machine) whenJudged() int64 {
	if !m.judges() || !m.spec.Budget.Timed || !m.judging.known {
		return never
	}
	return m.whenCounted(m.judging.next)
}

func (e *BudgetJudged) apply(m *Machine) {
	at := m.Counted()
	m.judging = judging{known: true, ended: m.endedTrials(), failed: m.counts[Errored],
		next: at + max(judgeNS, at/judgeParts)}
	if e.Cause != nil && m.outcome == 0 {
		m.end(Finished, *e.Cause)
	}
}
