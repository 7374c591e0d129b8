package core

import "slices"

// adoption is what a trial takes over that exploits another one, or itself.
type adoption struct {
	from     checkpoint
	explores bool // with other parameters
	params   span
}

// willAdopt notes what the trial's next start takes over. From now on the donor's checkpoint is kept
// for it, whatever happens to the donor.
func (m *Machine) willAdopt(c Command, from checkpoint) {
	m.cancelAdoption(c.Trial)
	m.shared[from.ref]++
	x := adoption{from: from, explores: c.Params != nil}
	if x.explores {
		x.params = m.params.add(c.Params)
	}
	m.adopts[c.Trial] = x
}

// clone makes a new trial start from another's newest checkpoint, without the other's results.
func (m *Machine) clone(no, donor TrialNo) {
	from, ok := m.checkpointAt(donor, 0)
	if !ok {
		m.warn(no, Cause{Kind: CauseCloneRefused})
		return
	}
	if !m.since(RulesV2) {
		from.results, from.metrics, from.windows = 0, nil, nil
	}
	m.willAdopt(Command{Trial: no}, from)
}

// cancelAdoption drops a planned adoption.
func (m *Machine) cancelAdoption(no TrialNo) {
	if x, ok := m.adopts[no]; ok {
		delete(m.adopts, no)
		m.drop(x.from)
	}
}

// adopt makes the other trial's checkpoint the newest of this one: nothing is copied.
func (m *Machine) adopt(no TrialNo) {
	x, ok := m.adopts[no]
	if !ok {
		return
	}
	delete(m.adopts, no)
	m.branch(no, m.liveOf(no), x.from.ref)
	if x.explores {
		m.explore(no, x.params)
	}
	m.trial(no).noRestore = false
	m.removeListed(no, x.from.ref)
	m.hold(no, x.from)
}

// removeListed removes a checkpoint from the trial's list, if it is there: the trial restores it again, and
// holds it once.
func (m *Machine) removeListed(no TrialNo, ref CheckpointRef) {
	list := m.ckpts[no]
	if i := slices.IndexFunc(list, func(c checkpoint) bool { return c.ref == ref }); i >= 0 {
		held := list[i]
		m.ckpts[no] = slices.Delete(list, i, i+1)
		m.drop(held)
	}
}

// explore gives a trial other parameters. The parameters that it was created with continue to name its
// files.
func (m *Machine) explore(no TrialNo, params span) {
	t := m.trial(no)
	if _, ok := m.first[no]; !ok {
		m.first[no] = t.params
	}
	t.params = params
}
