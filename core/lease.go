package core

import (
	"slices"

	"github.com/tunehost/tunehost/core/resource"
)

// LeaseState is the state of a lease.
type LeaseState uint8

// States of leases.
const (
	// LeaseRequested waits for the engine, in its queue or after a restart of the host.
	LeaseRequested LeaseState = iota + 1
	// LeaseFree is granted, and no trial runs on it.
	LeaseFree
	// LeaseUsed has an attempt.
	LeaseUsed
	// LeaseEnds has an attempt that is ending because the engine takes the lease away.
	LeaseEnds
)

var leaseNames = [...]string{LeaseRequested: "requested", LeaseFree: "free", LeaseUsed: "in use", LeaseEnds: "ending"}

// String returns the word that users see.
func (s LeaseState) String() string { return leaseNames[s] }

// lease is a held lease: requested and not released.
type lease struct {
	id      LeaseID
	state   LeaseState
	request resource.Request
	// trial is the one that runs on it, or that it was requested for; NoTrial: the first that needs one.
	trial TrialNo
	slots []resource.Slot
	why   string // why it is pending
	until int64  // when it ends at the latest, as time of day; 0: unknown
	since int64  // since when it is free, or was granted
	// useful: an attempt has reported a result on it, or ended by itself.
	useful bool
	// wanted: it is meant for a trial that waits or may come.
	wanted bool
	route  Route
}

// Route is how checkpoints of the trials on a lease travel, see [LeaseRouted].
type Route struct {
	Known, Direct bool
	Why           string
}

// granted turns it into a lease that trials can run on.
func (l *lease) granted(e *LeaseGranted, slots []resource.Slot, now int64) {
	l.state, l.slots, l.until, l.since, l.why = LeaseFree, slots, e.Until, now, ""
}

// unused reports that no attempt is on it, so that it can be released.
func (l *lease) unused() bool { return l.state == LeaseRequested || l.state == LeaseFree }

func (e *LeaseGranted) apply(m *Machine) {
	l := m.engine.find(e.Lease)
	switch {
	case l == nil:
		m.do(ReleaseLease{e.Lease}) // it was released in the meantime
	case l.state == LeaseRequested:
		l.granted(e, m.engine.slots(e.Bundles), m.now)
		m.work = true
	}
}

func (e *LeasePending) apply(m *Machine) {
	if l := m.engine.find(e.Lease); l != nil && l.state == LeaseRequested {
		l.why = e.Why
	}
}

func (e *LeaseRouted) apply(m *Machine) {
	if l := m.engine.find(e.Lease); l != nil {
		l.route = Route{Known: true, Direct: e.Direct, Why: e.Why}
	}
}

func (e *LeaseRefused) apply(m *Machine) {
	l := m.engine.find(e.Lease)
	switch {
	case l == nil:
	case l.state == LeaseRequested:
		m.engine.forget(l)
		m.engine.refused(l, e.Why)
	default: // it had been granted
		m.engine.lose(l, e.Why)
	}
}

// apply ends the attempt on the lease like an interrupt: it saves and is requeued before all others.
func (e *LeaseEnding) apply(m *Machine) {
	l := m.engine.find(e.Lease)
	switch {
	case l == nil:
		return
	case l.unused():
		m.engine.endedTooSoon(l)
		m.engine.giveBack(l)
	case !m.liveOf(l.trial).over:
		m.stopAttempt(l.trial, toRequeue, Cause{Kind: CauseLeaseEnding})
		e.explain(m.liveOf(l.trial))
	}
	l.why = e.Why
	l.until = e.At
	m.engine.endedTooSoon(l)
	if l.state == LeaseUsed {
		l.state = LeaseEnds
	}
}

// explain adds the reason to the cause of the end, whose kind is decided already.
func (e *LeaseEnding) explain(l *live) {
	if l.cause.Kind == CauseLeaseEnding && e.Why != "" {
		l.cause.Text = e.Why
	}
}

func (e *LeaseLost) apply(m *Machine) {
	if l := m.engine.find(e.Lease); l != nil {
		m.engine.lose(l, e.Why)
	}
}

// lose ends what ran on a lost lease. An attempt that had ended waits for the checkpoints that it has
// handed over.
func (x *engine) lose(l *lease, why string) {
	m := x.m
	x.gone = Cause{Kind: CauseLeaseLost, Text: why}
	x.forget(l)
	x.endedTooSoon(l)
	if !l.unused() {
		m.leaseLost(l.trial, x.gone)
	}
}

// endedTooSoon delays the next request like the one that was lost, if the engine takes a lease away
// before it was of use. Otherwise trials would start in a loop, as fast as the engine grants. A lease
// that lasted longer than the longest delay cannot loop fast.
func (x *engine) endedTooSoon(l *lease) {
	lasted := l.state != LeaseRequested && x.m.now-l.since >= leaseRetryMostNS
	if l.state != LeaseEnds && !l.useful && !lasted {
		x.delay(l.request)
	}
}

// used notes that a lease was of use: requests like it are no longer delayed.
func (x *engine) used(l *lease) {
	if l != nil && !l.useful {
		l.useful = true
		x.clearDelay(l.request)
	}
}

// leaseLost ends an attempt that may still run out of the host's reach: it is told to end at once, in
// case that still works.
func (m *Machine) leaseLost(no TrialNo, why Cause) {
	if l := m.liveOf(no); !l.over || !m.since(RulesV2) {
		attempt := m.trial(no).attempt
		if l.intent == noIntent {
			m.do(StopAttempt{Trial: no, Attempt: attempt, Paused: true})
		}
		m.do(KillAttempt{Trial: no, Attempt: attempt})
		m.release(l)
	}
	m.placeLost(no, why)
}

// refused handles a request that can never be met. The trial that it was for fails; if it was for no
// particular trial, the experiment ends. If the user chose to wait for resources, it is requested
// again.
func (x *engine) refused(l *lease, why string) {
	m, cause := x.m, Cause{Kind: CauseLeaseRefused, Text: why}
	x.gone = cause
	switch {
	case m.spec.WaitForResources:
		if s := x.delay(l.request); !s.told {
			s.told = true
			m.do(Warn{Cause: cause})
		}
	case l.trial == NoTrial:
		m.end(Failed, cause)
	case x.waitsFor(l):
		m.fail(l.trial, cause)
	}
}

// forget removes a lease from the list.
func (x *engine) forget(l *lease) {
	x.leases = slices.DeleteFunc(x.leases, func(other *lease) bool { return other == l })
	x.m.work = true
}

// giveBack releases a lease.
func (x *engine) giveBack(l *lease) {
	x.forget(l)
	x.m.do(ReleaseLease{l.id})
}

// giveAllBack releases all unused leases.
func (x *engine) giveAllBack() {
	for _, l := range slices.Clone(x.leases) {
		if l.unused() {
			x.giveBack(l)
		}
	}
}

func (x *engine) find(id LeaseID) *lease {
	i, ok := slices.BinarySearchFunc(x.leases, id, func(l *lease, id LeaseID) int { return int(l.id) - int(id) })
	if !ok {
		return nil
	}
	return x.leases[i]
}

// slots converts bundles: the names of nodes become numbers.
func (x *engine) slots(bundles []LeasedBundle) []resource.Slot {
	slots := make([]resource.Slot, len(bundles))
	for i, b := range bundles {
		slots[i] = resource.Slot{Node: x.node(b.Node), Devices: b.Devices}
	}
	return slots
}

// node returns the number of a node's name.
func (x *engine) node(name string) uint32 {
	n, ok := x.numbers[name]
	if !ok {
		n = uint32(len(x.names))
		x.numbers[name] = n
		x.names = append(x.names, name)
	}
	return n
}
