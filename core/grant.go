package core

import "github.com/tunehost/tunehost/core/resource"

// granter decides which waiting trials may start, and on what. There is one for each way in which
// trials get resources: the ledger of the nodes that have joined, the caller who trains, the leases of
// an engine.
type granter interface {
	// start starts the trials that can start now, and ends those that never can.
	start()
	// wants returns how many more trials could start now, or soon.
	wantedTrials() int
	// release takes back the resources granted to an attempt.
	release(grant)
	// patienceNS is how long to wait after a searcher says "not yet" although nothing runs; 0: until the
	// granter asks again by itself.
	patienceNS() int64
}

// grant is what an attempt runs on.
type grant struct {
	placement resource.Placement
	lease     LeaseID // 0: none
}

// choose selects the granter for the settings. A granter that attempts hold something of stays until
// the next host.
func (m *Machine) choose() {
	if m.spec.Leases != nil {
		m.engine.settings = *m.spec.Leases
	}
	if m.running > 0 {
		return
	}
	was := m.granter
	switch {
	case m.spec.Manual:
		m.granter = m.caller
	case m.spec.Leases != nil:
		m.granter = m.engine
	default:
		m.granter = m.ledger
	}
	if was == granter(m.engine) && was != m.granter {
		m.engine.giveAllBack()
	}
}

// firstInLine returns the trial that is next, with its queue; nil if none waits, or none may start. A
// trial that cannot start blocks those behind it (B-001).
func (m *Machine) firstInLine() (TrialNo, *queue) {
	no, q := m.nextInLine()
	if q == nil || !m.slotFree() {
		return 0, nil
	}
	return no, q
}

// release returns what the attempt held, once.
func (m *Machine) release(l *live) {
	if !l.placed {
		return
	}
	l.placed = false
	m.running--
	m.work = true
	m.granter.release(l.grant)
	l.grant = grant{}
}
