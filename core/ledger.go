package core

import (
	"slices"

	"github.com/tunehost/tunehost/core/resource"
)

// ledger is the granter of trials that run on nodes that have joined: it grants what is free
// immediately.
type ledger struct {
	*resource.Ledger
	m     *Machine
	nodes int
	// more says that the list of nodes is not complete yet.
	more bool
	// beyond is the request of the trial that runs beyond the free resources (Spec.Overcommit); nil: none
	// does.
	beyond *resource.Request
	// judged is the trial that waits for more than exists, or for what others hold; nil: none was looked at since a
	// node came or left.
	judged *judged
}

// judged is a trial of which it is known whether it could ever start, with what it asks for.
type judged struct {
	trial   TrialNo
	request resource.Request
}

// clear removes all nodes, and the resources granted on them.
func (l *ledger) clear() {
	*l = ledger{m: l.m, Ledger: resource.NewLedger()}
}

func (l *ledger) start() {
	for l.startNext() {
	}
}

func (l *ledger) startNext() bool {
	no, q := l.m.firstInLine()
	if q == nil {
		return false
	}
	r := l.m.request(no)
	p, ok := l.place(r)
	if !ok {
		return l.refuseIfNever(no, r, q)
	}
	q.pop()
	if p.Beyond {
		asked := r // not r itself, which need not be on the heap
		l.beyond = &asked
	}
	l.m.start(no, grant{placement: p})
	return true
}

func (l *ledger) place(r resource.Request) (resource.Placement, bool) {
	if p, ok := l.Place(r); ok {
		return p, true
	}
	return l.overcommit(r)
}

// overcommit places a trial on resources in use, if the user allows that: one trial at a time, which
// shows an autoscaler what is missing (B-036).
func (l *ledger) overcommit(r resource.Request) (resource.Placement, bool) {
	if !l.m.spec.Overcommit || l.beyond != nil {
		return resource.Placement{}, false
	}
	return l.Beyond(r)
}

// refuseIfNever fails a trial that no node could ever run (B-035).
func (l *ledger) refuseIfNever(no TrialNo, r resource.Request, q *queue) bool {
	if l.m.spec.WaitForResources {
		l.tellMisfit(no, r)
		return false
	}
	short, never := l.neverFits(r)
	if !never {
		return false
	}
	q.pop()
	l.m.fail(no, Cause{Kind: CauseNeverFits, Text: short.Error()})
	return true
}

// tellMisfit warns of a trial that no node could ever run, and that waits for one that can: once, until a node comes or
// leaves. The host itself has said so of what each trial needs.
func (l *ledger) tellMisfit(no TrialNo, r resource.Request) {
	seen := judged{no, r}
	if l.judged != nil && *l.judged == seen || r == l.m.spec.Request {
		return
	}
	l.judged = &seen
	if short, never := l.neverFits(r); never {
		l.m.do(Warn{Trial: no, HasTrial: true, Cause: Cause{Kind: CauseNeverFits,
			Text: "it waits until there is more, and what is behind it waits, too: " + short.Error()}})
	}
}

// neverFits reports whether no node could ever run a request, and why.
func (l *ledger) neverFits(r resource.Request) (short resource.Shortfall, never bool) {
	if l.nodes == 0 || l.more {
		return short, false
	}
	ok, short := l.FitsEver(r)
	return short, !ok
}

// Misfit is what waits for more resources than there are (Spec.WaitForResources).
type Misfit struct {
	// Trial is the first in line; those behind it wait with it (B-001). Without HasTrial it is any trial.
	Trial    TrialNo
	HasTrial bool
	// Why says what is asked for, and what there is.
	Why string
}

// Misfit says what waits for more resources than there are; false: nothing does.
func (m *Machine) Misfit() (x Misfit, waits bool) {
	if !m.spec.WaitForResources || m.granter != granter(m.ledger) {
		return x, false
	}
	r := m.spec.Request
	if x.Trial, x.HasTrial = m.waitsFirst(); x.HasTrial {
		r = m.request(x.Trial)
	} else if m.running > 0 || m.exhausted() {
		return x, false
	}
	short, never := m.ledger.neverFits(r)
	if never {
		x.Why = short.Error()
	}
	return x, never
}

// wantedTrials fills what is free, and keeps some more trials waiting if the searcher does not learn from
// results.
func (l *ledger) wantedTrials() int {
	m := l.m
	room, waiting, ahead := l.slotsLeft(m.slots(maxAskTrials)), m.counts[Pending], 0
	if m.spec.Independent {
		ahead = min(maxAheadTrials, 2*(room+m.running))
	}
	if waiting > ahead/2 {
		return 0
	}
	return room + ahead - waiting
}

// slotsLeft returns how many more trials could start now.
func (l *ledger) slotsLeft(limit int) int {
	if limit <= 0 {
		return 0
	}
	r := l.m.spec.Request
	room := l.Room(r, limit)
	if _, more := l.overcommit(r); more && room < limit {
		room++
	}
	return room
}

func (l *ledger) release(g grant) {
	if g.placement.Beyond {
		l.beyond = nil
		return
	}
	if err := l.Release(g.placement); err != nil {
		panic("core: " + err.Error())
	}
}

func (*ledger) patienceNS() int64 { return waitRetryNS }

func (e *NodeJoined) apply(m *Machine) {
	if err := m.ledger.AddNode(e.Node); err != nil {
		m.do(Warn{Cause: Cause{Kind: CauseNode, Text: err.Error()}})
		return
	}
	m.ledger.nodes++
	m.ledger.more, m.ledger.judged = e.More, nil
	m.work = true
}

func (e *NodeLeft) apply(m *Machine) {
	if err := m.ledger.RemoveNode(e.ID); err != nil {
		m.do(Warn{Cause: Cause{Kind: CauseNode, Text: err.Error()}})
		return
	}
	m.ledger.nodes--
	m.ledger.judged = nil
	for _, no := range m.lostWith(e.ID) {
		m.placeLost(no, Cause{Kind: CauseNodeLost})
	}
}

// lostWith returns what ran on a node. Attempts that still ran release their grants, so that no stop
// is sent to them.
func (m *Machine) lostWith(node uint32) (lost []TrialNo) {
	for i := range m.lives {
		if l := &m.lives[i]; l.placed && l.grant.lease == 0 && standsOn(l.grant.placement, node) {
			if !l.over || !m.since(RulesV2) {
				m.release(l)
			}
			lost = append(lost, l.trial)
		}
	}
	return lost
}

func standsOn(p resource.Placement, node uint32) bool {
	return slices.ContainsFunc(p.Slots, func(s resource.Slot) bool { return s.Node == node })
}

// Overcommitted reports whether a trial runs beyond the free resources.
func (m *Machine) Overcommitted() bool { return m.ledger.beyond != nil }

// Usage lists the resources with the granted amounts, which an overcommitted trial can push above the
// capacity.
func (m *Machine) Usage() []resource.Usage {
	list := m.ledger.Usage()
	if m.ledger.beyond != nil {
		list = resource.Plus(list, *m.ledger.beyond)
	}
	return list
}
