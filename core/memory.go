package core

// The state of a trial that the scheduler pauses may be held in memory (B-052). It is not a
// checkpoint: it does not survive the host, no other trial starts from it, and after a failure the
// trial goes back to its last checkpoint.

// holdsInMemory reports whether the state of a trial that is told to end may be held in memory: a
// pause by the user may last longer than the host.
func (m *Machine) holdsInMemory(why intent) bool {
	return m.spec.Checkpoint.PausesInMemory && why == toPause
}

func (e *StateHeld) apply(m *Machine) {
	if !m.current(e.Trial, e.Attempt) {
		return
	}
	l := m.liveOf(e.Trial)
	m.dropState(e.Trial)
	m.inMemory[e.Trial] = m.taken(&CheckpointSaved{Trial: e.Trial, Attempt: e.Attempt, ID: e.ID,
		Iteration: e.Iteration}, l)
	m.saveOver(e.Trial, l)
}

// stateLost completes a pause without the state that was to be held.
func (m *Machine) stateLost(no TrialNo, err string) {
	m.warn(no, Cause{Kind: CauseNotHeld, Text: err})
}

// dropState drops the held state of a trial.
func (m *Machine) dropState(no TrialNo) {
	if c, ok := m.inMemory[no]; ok {
		delete(m.inMemory, no)
		m.do(DropState{no, c.ref.ID})
	}
}

// source returns what the next attempt starts from: nil if the trial has nothing of its own.
func (m *Machine) source(no TrialNo) (c *checkpoint, memory bool) {
	if _, ok := m.inMemory[no]; ok {
		held := m.inMemory[no] // declared here: a copy is made only if there is one
		return &held, true
	}
	if i := m.newest(no); i >= 0 && !m.trial(no).noRestore {
		return &m.ckpts[no][i], false
	}
	return nil, false
}
