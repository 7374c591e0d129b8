package core

// A trial that the scheduler pauses may have its state held in memory (B-052). It
// is no checkpoint: it does not survive the host, nobody else goes on from it, and
// a failure goes back to the last checkpoint as if it had never been.

// holdsInMemory says whether the state of a trial that is told to end may be held
// in memory: a pause of the user's may last longer than the host.
func (m *Machine) holdsInMemory(why intent) bool {
	return m.spec.Checkpoint.PausesInMemory && why == toPause
}

func (e *StateHeld) apply(m *Machine) {
	if !m.current(e.Trial, e.Attempt) {
		return
	}
	l := m.liveOf(e.Trial)
	m.dropState(e.Trial)
	m.inMemory[e.Trial] = m.taken(&CheckpointSaved{Trial: e.Trial, Attempt: e.Attempt, ID: e.ID, Iteration: e.Iteration}, l)
	m.saveOver(e.Trial, l)
}

// stateLost: a pause goes on without the state that was to be held.
func (m *Machine) stateLost(no TrialNo, err string) {
	m.warn(no, Cause{Kind: CauseNotHeld, Text: err})
}

// dropState forgets what is held of a trial.
func (m *Machine) dropState(no TrialNo) {
	if c, ok := m.inMemory[no]; ok {
		delete(m.inMemory, no)
		m.do(DropState{no, c.ref.ID})
	}
}

// source is what the next attempt goes on from: nil for nothing that this trial
// has of its own.
func (m *Machine) source(no TrialNo) (c *checkpoint, memory bool) {
	if c, ok := m.inMemory[no]; ok {
		return &c, true
	}
	if i := m.newest(no); i >= 0 && !m.trials[no].noRestore {
		return &m.ckpts[no][i], false
	}
	return nil, false
}
