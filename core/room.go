package core

import "slices"

// spare is a checkpoint that is not the newest of its trial any more.
type spare struct {
	trial TrialNo
	ref   CheckpointRef
}

// hold makes a checkpoint the newest of a trial; the one before becomes spare.
func (m *Machine) hold(no TrialNo, c checkpoint) {
	m.dropState(no)
	if list := m.ckpts[no]; len(list) > 0 && m.spec.Checkpoint.DiskBytes > 0 {
		m.spare = append(m.spare, spare{no, list[len(list)-1].ref})
	}
	m.ckpts[no] = append(m.ckpts[no], c)
}

// limitDisk applies a limit that may be new.
func (m *Machine) limitDisk() {
	m.spare, m.full = nil, false
	if m.spec.Checkpoint.DiskBytes == 0 {
		return
	}
	for no := range m.trials.len {
		list := m.ckpts[TrialNo(no)]
		for i := 0; i < len(list)-1; i++ {
			m.spare = append(m.spare, spare{TrialNo(no), list[i].ref})
		}
	}
	m.makeRoom()
}

// makeRoom deletes the checkpoints that have been spare for longest until the rest is within the limit. A
// checkpoint that a trial may start from is not spare. This also holds if the trial is another one that has
// continued from it. If none is spare, makeRoom warns, once.
func (m *Machine) makeRoom() {
	limit := m.spec.Checkpoint.DiskBytes
	if limit == 0 {
		return
	}
	for n := len(m.spare); n > 0 && m.stored > limit; n-- {
		x := m.spare[0]
		m.spare = m.spare[1:]
		if !m.spareNow(x) {
			m.spare = append(m.spare, x)
		}
	}
	if m.stored > limit && !m.full {
		m.full = true
		m.do(Warn{Cause: Cause{Kind: CauseDiskFull, Bytes: m.stored, Limit: limit}})
	}
}

// spareNow takes a checkpoint from a trial that does not start from it, which deletes it if no other trial
// has it; false if it must wait. Before [RulesV8] it waited for the others, which waited for this one.
func (m *Machine) spareNow(x spare) bool {
	list := m.ckpts[x.trial]
	i := slices.IndexFunc(list, func(c checkpoint) bool { return c.ref == x.ref })
	if i < 0 {
		return true // gone already
	}
	if i == m.newest(x.trial) || m.shared[x.ref] > 0 && !m.since(RulesV8) {
		return false
	}
	gone := list[i]
	m.ckpts[x.trial] = slices.Delete(list, i, i+1)
	m.drop(gone)
	return true
}
