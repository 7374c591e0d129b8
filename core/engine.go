package core

import (
	"slices"

	"github.com/tunehost/tunehost/core/resource"
)

// engine is the granter of trials that run on leases. It requests one for each trial that waits or may
// come, up to the limit of running trials, and starts trials on granted ones. If suggestions bring no
// requests of their own, the searcher is asked when a lease is granted, so that a suggestion does not
// age in a queue.
type engine struct {
	m        *Machine
	settings Leases
	leases   []*lease // in the order of their numbers
	last     LeaseID
	// names of nodes, by number; numbers are from 1.
	names    []string
	numbers  map[string]uint32
	refusals []*refusal
	wake     int64 // when time changes something; 0: never
	// withoutResult counts for each trial the leases that ended in a row without a new result; -1: the present
	// lease brought one.
	withoutResult map[TrialNo]int
	tooShort      bool // the user was told that leases end too early
	// gone is why the last lost or refused lease is gone; none once a trial starts on another one.
	gone Cause
}

// refusal: a request was refused, or its lease ended before it was of use, and will be repeated.
type refusal struct {
	request resource.Request
	count   int
	until   int64
	told    bool // the user was told that it was refused
}

func newEngine(m *Machine) *engine {
	return &engine{m: m, names: []string{""}, numbers: map[string]uint32{}, withoutResult: map[TrialNo]int{}}
}

// start starts what can be started, and then requests what is missing.
func (x *engine) start() {
	x.m.resumed.shorten(x.m.inLine)
	x.m.pending.shorten(x.m.inLine)
	for x.startNext() {
	}
	x.plan()
}

// startNext starts the first trial in line with a free lease. A trial whose lease is not granted yet
// does not block later ones: they ask for something else.
func (x *engine) startNext() bool {
	if !x.anyFree() || !x.m.slotFree() {
		return false
	}
	for no := range x.m.line() {
		if l := x.pick(no, LeaseFree, true); l != nil {
			l.state, l.trial, x.gone = LeaseUsed, no, Cause{}
			x.m.start(no, grant{placement: resource.Placement{Slots: l.slots}, lease: l.id})
			return true
		}
	}
	return false
}

func (x *engine) anyFree() bool {
	for _, l := range x.leases {
		if l.state == LeaseFree {
			return true
		}
	}
	return false
}

// line iterates over the waiting trials in the order in which they are due.
func (m *Machine) line() func(yield func(TrialNo) bool) {
	return func(yield func(TrialNo) bool) {
		for _, q := range []*queue{&m.resumed, &m.pending} {
			for _, p := range q.items[q.head:] {
				if m.inLine(p) && !yield(p.trial) {
					return
				}
			}
		}
	}
}

// pick returns a lease in a state that a trial in line may use, preferably its own. Unless wanted is
// set, it returns none that is meant for another trial.
func (x *engine) pick(no TrialNo, state LeaseState, wanted bool) *lease {
	r := x.m.request(no)
	var shared *lease
	for _, l := range x.leases {
		switch {
		case l.state != state || l.wanted && !wanted || !l.request.Equal(r):
		case l.trial == no:
			return l
		case shared == nil && !x.waitsFor(l):
			shared = l
		}
	}
	return shared
}

// waitsFor reports whether the trial that a lease was requested for still waits for it.
func (x *engine) waitsFor(l *lease) bool {
	return l.trial != NoTrial && x.m.trial(l.trial).state == Pending && x.m.request(l.trial).Equal(l.request)
}

// release keeps the lease of an ended attempt for the next trial, unless it is ending.
func (x *engine) release(g grant) {
	switch l := x.find(g.lease); {
	case l == nil: // it was lost
	case l.state == LeaseEnds:
		x.giveBack(l)
	default:
		l.state, l.trial, l.since = LeaseFree, NoTrial, x.m.now
		x.used(l)
	}
}

func (*engine) patienceNS() int64 { return waitRetryNS }

// wantedTrials returns a trial for each free lease; if suggestions bring their requests, one for each lease
// that could be requested.
func (x *engine) wantedTrials() int {
	slots := x.m.slots(maxAskTrials)
	if x.settings.OwnRequests {
		return min(slots, x.leasesLeft()) - x.waiting(slots)
	}
	free := 0
	for _, l := range x.leases {
		if l.state == LeaseFree && l.request.Equal(x.m.spec.Request) && !x.waitsFor(l) {
			free++
		}
	}
	return min(slots, free)
}

// waiting counts the waiting trials whose requests were not refused; at most limit.
func (x *engine) waiting(limit int) (n int) {
	for no := range x.m.line() {
		if n >= limit {
			break
		}
		if !x.isDelayed(x.m.request(no)) {
			n++
		}
	}
	return n
}

// bound returns how many leases may be held.
func (x *engine) bound() int {
	switch {
	case x.m.spec.Concurrency > 0:
		return int(x.m.spec.Concurrency)
	case x.settings.Most > 0:
		return int(x.settings.Most)
	}
	return maxLeases
}

// leasesLeft returns how many leases there may be beside those in use.
func (x *engine) leasesLeft() int {
	n := x.bound()
	for _, l := range x.leases {
		if !l.unused() {
			n--
		}
	}
	return n
}

// delay counts a refusal of a request, and delays it.
func (x *engine) delay(r resource.Request) *refusal {
	s := x.refusalOf(r)
	if s == nil {
		s = &refusal{request: r}
		x.refusals = append(x.refusals, s)
	}
	if s.until <= x.m.now { // leases of the same time count once
		s.count++
		s.until = x.m.now + min(int64(leaseRetryNS)<<min(s.count-1, 20), leaseRetryMostNS)
	}
	return s
}

func (x *engine) refusalOf(r resource.Request) *refusal {
	i := slices.IndexFunc(x.refusals, func(s *refusal) bool { return s.request.Equal(r) })
	if i < 0 {
		return nil
	}
	return x.refusals[i]
}

func (x *engine) isDelayed(r resource.Request) bool {
	s := x.refusalOf(r)
	return s != nil && s.until > x.m.now
}

// clearDelay ends the delay of a request.
func (x *engine) clearDelay(r resource.Request) {
	x.m.work = x.m.work || len(x.refusals) > 0
	x.refusals = slices.DeleteFunc(x.refusals, func(s *refusal) bool { return s.request.Equal(r) })
}

// unplug: the host has died, with everything that ran. The state of leases is unknown; those that were
// ending are not adopted.
func (x *engine) unplug() {
	x.tooShort = false
	clear(x.withoutResult)
	x.leases = slices.DeleteFunc(x.leases, func(l *lease) bool { return l.state == LeaseEnds })
	for _, l := range x.leases {
		if l.state == LeaseUsed {
			l.trial = NoTrial
		}
		l.state = LeaseRequested
	}
}

// takeUp asks the engine for the state of the leases that an earlier host has requested; at the end of
// the experiment the engine must release them all.
func (x *engine) takeUp() {
	if x.m.granter != granter(x) {
		return
	}
	if x.m.closing.outcome != 0 || x.m.outcome != 0 {
		x.leases = nil
	}
	adopt := AdoptLeases{}
	for _, l := range x.leases {
		adopt.Leases = append(adopt.Leases, l.id)
	}
	x.m.do(adopt)
}
