package core

// leftDirs are the directories that a trial has left for a new one ([TrialReset].Fresh).
type leftDirs struct {
	// through has, for each, the highest checkpoint ID used there.
	through []uint32
	// checkpoints stay where they are; no attempt starts from them.
	checkpoints []checkpoint
}

// leaveDir moves the trial to a new directory.
func (m *Machine) leaveDir(no TrialNo) {
	x := m.left[no]
	x.through = append(x.through, m.trial(no).lastCkpt)
	x.checkpoints = append(x.checkpoints, m.ckpts[no]...)
	m.left[no] = x
	delete(m.ckpts, no)
}

// Dirs returns how many directories the trial has left for a new one; 0 if it never moved. It is also
// the number of its present directory.
func (m *Machine) Dirs(no TrialNo) int { return len(m.left[no].through) }

// DirOf returns the number of the trial's directory that holds a checkpoint.
func (m *Machine) DirOf(no TrialNo, id uint32) int {
	for i, last := range m.left[no].through {
		if id <= last {
			return i
		}
	}
	return m.Dirs(no)
}
