package core

// runs returns how many trials each suggestion becomes: those of the i-th suggestion are numbered from
// i times as many on.
func (m *Machine) runs() int { return int(max(m.spec.Repeat, 1)) }

// Runs returns the runs of a trial's suggestion: the first one, and how many there are.
func (m *Machine) Runs(no TrialNo) (first TrialNo, count int) {
	k := TrialNo(m.runs())
	return no - no%k, int(k)
}

// Counts reports whether a trial has ended so that its last result, if it has one, counts: it did not
// fail, and the user did not remove it while it waited.
func (m *Machine) Counts(no TrialNo) bool {
	t := m.trial(no)
	return t.state == Terminated && !t.dropped
}

// tellTogether tells the searcher of a suggestion when the last of its runs was added, and when the
// last of them has ended (B-105). One that runs again after an error ends again.
func (m *Machine) tellTogether(o Observation) {
	first, count := m.Runs(o.Trial)
	switch o.Kind {
	case SawAdded:
		if int(o.Trial-first) < count-1 {
			return
		}
	case SawCompleted, SawFailed, SawRemoved:
		for no := first; no < first+TrialNo(count); no++ {
			if int(no) >= m.trials.len || !m.trial(no).state.Final() {
				return
			}
		}
		o.Kind, o.Iteration = m.endTogether(first, count)
	default:
		return
	}
	m.say(&Observation{Kind: o.Kind, To: ToSearcher, Trial: first, Attempt: o.Attempt, Iteration: o.Iteration,
		Cause: o.Cause, Runs: uint32(count)})
}

// endTogether returns how a suggestion ended: well if any run did, else in an error if any did. Its
// iteration is one that all runs whose results count have reached.
func (m *Machine) endTogether(first TrialNo, count int) (kind ObservationKind, iteration uint64) {
	kind = SawRemoved
	for no := first; no < first+TrialNo(count); no++ {
		t := m.trial(no)
		switch {
		case m.Counts(no):
			kind = SawCompleted
			if s, ok := m.Suggested(no); ok && (iteration == 0 || s.Iteration < iteration) {
				iteration = s.Iteration
			}
		case t.state == Errored && kind == SawRemoved:
			kind = SawFailed
		}
	}
	return kind, iteration
}
