package core

// apply tells the searcher of the trial and its end, and keeps only the count.
func (e *TrialLearned) apply(m *Machine) {
	no := ^TrialNo(m.learned)
	m.learned++
	kind := SawCompleted
	if e.Failed {
		kind = SawFailed
	}
	m.say(Observation{Kind: SawAdded, To: ToSearcher, Trial: no, Learned: true, Params: e.Params})
	m.say(Observation{Kind: kind, To: ToSearcher, Trial: no, Learned: true, Attempt: 1, Iteration: e.Iteration,
		Metrics: e.Metrics,
		TrainNS: e.TrainNS, Cause: &Cause{Kind: CauseLearned, Text: e.From}})
}

// Learned returns how many trials of other experiments the searcher was told.
func (m *Machine) Learned() int { return int(m.learned) }
