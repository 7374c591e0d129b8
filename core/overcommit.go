package core

import "github.com/tunehost/tunehost/core/resource"

// beyond places a trial on what is in use already, where the user allows that: one trial
// at a time, so that whoever adds machines to the cluster sees what is missing (B-036).
func (m *Machine) beyond(r resource.Request) (resource.Placement, bool) {
	if !m.spec.Overcommit || m.overcommitted != nil || m.spec.Manual {
		return resource.Placement{}, false
	}
	return m.ledger.Beyond(r)
}

// Overcommitted says whether a trial runs beyond what is free.
func (m *Machine) Overcommitted() bool { return m.overcommitted != nil }

// Usage lists the resources with what is granted of them; more than there is where a
// trial was started beyond that.
func (m *Machine) Usage() []resource.Usage {
	list := m.ledger.Usage()
	if m.overcommitted != nil {
		list = resource.Plus(list, *m.overcommitted)
	}
	return list
}
