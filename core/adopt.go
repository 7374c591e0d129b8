package core

import "slices"

// adoption is what a trial takes over that exploits another one, or itself.
type adoption struct {
	from     checkpoint
	explores bool // with other parameters
	params   span
}

// willAdopt notes what the trial's next start takes over. The donor's checkpoint
// is kept for it from now on, whatever becomes of the donor.
func (m *Machine) willAdopt(c Command, from checkpoint) {
	m.forgo(c.Trial)
	m.shared[from.ref]++
	x := adoption{from: from, explores: c.Params != nil}
	if x.explores {
		x.params = m.store(c.Params)
	}
	m.adopts[c.Trial] = x
}

// clone has a new trial start from another's newest checkpoint, with nothing of
// what the other one has reported.
func (m *Machine) clone(no, donor TrialNo) {
	from, ok := m.checkpointAt(donor, 0)
	if !ok {
		m.warn(no, Cause{Kind: CauseCloneRefused})
		return
	}
	if !m.since(RulesV2) {
		from.results, from.cells, from.windows = 0, nil, nil
	}
	m.willAdopt(Command{Trial: no}, from)
}

// forgo drops an adoption that will not be made.
func (m *Machine) forgo(no TrialNo) {
	if x, ok := m.adopts[no]; ok {
		delete(m.adopts, no)
		m.drop(x.from)
	}
}

// adopt makes the other trial's checkpoint the newest of this one: no byte of it
// is copied.
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
	m.trials[no].noRestore = false
	m.let(no, x.from.ref)
	m.hold(no, x.from)
}

// let takes a checkpoint out of its place in the trial's list, if it has one: the trial
// goes on from it again, and holds it once.
func (m *Machine) let(no TrialNo, ref CheckpointRef) {
	list := m.ckpts[no]
	if i := slices.IndexFunc(list, func(c checkpoint) bool { return c.ref == ref }); i >= 0 {
		held := list[i]
		m.ckpts[no] = slices.Delete(list, i, i+1)
		m.drop(held)
	}
}

// explore gives a trial other parameters; what it was created with names its
// files for good.
func (m *Machine) explore(no TrialNo, params span) {
	t := &m.trials[no]
	if _, ok := m.first[no]; !ok {
		m.first[no] = t.params
	}
	t.params = params
}
