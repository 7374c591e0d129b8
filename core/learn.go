package core

// apply tells the searcher of the trial, its results and its end, as of a trial of its own, and keeps only the count.
func (e *TrialLearned) apply(m *Machine) {
	no := ^TrialNo(m.learned)
	m.learned++
	kind := SawCompleted
	if e.Failed {
		kind = SawFailed
	}
	m.say(&Observation{Kind: SawAdded, To: ToSearcher, Trial: no, Learned: true, Params: e.Params})
	for _, r := range e.Results {
		m.say(&Observation{Kind: SawResult, To: ToSearcher, Trial: no, Learned: true, Attempt: 1,
			Iteration: r.Iteration, Metrics: r.Metrics, TrainNS: r.TrainNS})
	}
	m.say(&Observation{Kind: kind, To: ToSearcher, Trial: no, Learned: true, Attempt: 1, Iteration: e.Iteration,
		Metrics: e.Metrics,
		TrainNS: e.TrainNS, Cause: &Cause{Kind: CauseLearned, Text: e.From}})
}

// Learned returns how many trials of other experiments the searcher was told.
func (m *Machine) Learned() int { return int(m.learned) }
