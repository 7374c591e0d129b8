package core

import "github.com/tunehost/tunehost/core/resource"

// Lease describes a held lease.
type Lease struct {
	ID    LeaseID
	State LeaseState
	// Request is what it asks for.
	Request resource.Request
	// Trial is the one that runs on it, or that it was requested for; NoTrial: the first that needs one.
	Trial TrialNo
	// Why is what the engine says about a lease that waits or ends.
	Why string
	// Slots are where it is placed; see [Machine.NodeName]. They are read-only.
	Slots []resource.Slot
	// Until is when it ends at the latest, in nanoseconds since 1970; 0: unknown.
	Until int64
	// Route is how checkpoints travel.
	Route Route
}

// Leases iterates over the held leases, in the order of their requests.
func (m *Machine) Leases() func(yield func(Lease) bool) {
	return func(yield func(Lease) bool) {
		for _, l := range m.engine.leases {
			v := Lease{ID: l.id, State: l.state, Request: l.request, Trial: l.trial, Why: l.why, Slots: l.slots,
				Until: l.until, Route: l.route}
			if !yield(v) {
				return
			}
		}
	}
}

// LeasesHeld returns how many leases are held: requested, and not released.
func (m *Machine) LeasesHeld() int { return len(m.engine.leases) }

// LeaseGone returns why the last lost or refused lease is gone, until a trial starts on another one.
func (m *Machine) LeaseGone() Cause { return m.engine.gone }

// LeaseRetry returns the time of the next request for a lease that trials wait for, if that request is delayed
// because others like it were refused or lost; 0: none is delayed.
func (m *Machine) LeaseRetry() (at int64) {
	x := m.engine
	if len(x.refusals) == 0 || m.granter != granter(x) || m.outcome != 0 || m.closing.outcome != 0 || m.Paused() {
		return 0
	}
	for _, s := range x.refusals {
		if s.until > m.now && (at == 0 || s.until < at) && x.awaited(s.request) {
			at = s.until
		}
	}
	return at
}

// awaited reports whether trials wait for a lease with a request, and none is requested for them.
func (x *engine) awaited(r resource.Request) bool {
	for no := range x.m.line() {
		if x.m.request(no).Equal(r) && x.pick(no, LeaseRequested, true) == nil {
			return true
		}
	}
	return !x.settings.OwnRequests && x.m.spec.Request.Equal(r) && x.mayCome() > 0
}

// NodeName returns the name of a node for messages.
func (m *Machine) NodeName(id uint32) string {
	if names := m.engine.names; m.granter == granter(m.engine) && int(id) < len(names) {
		return names[id]
	}
	return m.ledger.NodeName(id)
}
