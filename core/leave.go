package core

// leftDirs are the directories that a trial has left for a new one ([TrialReset].Fresh).
type leftDirs struct {
	// through has, for each, the highest checkpoint ID that was given out there.
	through []uint32
	// checkpoints stay where they are; nothing goes on from them.
	checkpoints []checkpoint
}

// leaveDir has the trial go on in a new directory.
func (m *Machine) leaveDir(no TrialNo) {
	x := m.left[no]
	x.through = append(x.through, m.trials[no].lastCkpt)
	x.checkpoints = append(x.checkpoints, m.ckpts[no]...)
	m.left[no] = x
	delete(m.ckpts, no)
}

// Dirs is how many directories the trial has left for a new one; 0 for a trial that
// is where it began. It is also the number of the one that it writes to.
func (m *Machine) Dirs(no TrialNo) int { return len(m.left[no].through) }

// DirOf is the number of the directory, of those that its trial has had, in which a
// checkpoint lies.
func (m *Machine) DirOf(no TrialNo, id uint32) int {
	for i, last := range m.left[no].through {
		if id <= last {
			return i
		}
	}
	return m.Dirs(no)
}
