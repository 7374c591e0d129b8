package coretest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// leasebook is the audit's account of held leases: requested and neither released nor gone.
type leasebook struct {
	held map[core.LeaseID]*leaseAccount
	last core.LeaseID
	// late are leases that this event granted although they are not held: each must be released.
	late map[core.LeaseID]bool
	// killed is the attempt whose lease was lost by this event.
	killed attemptKey
	adopts int // how often the event led to an adoption
}

type leaseAccount struct {
	request resource.Request
	trial   core.TrialNo // it was requested for
	user    core.TrialNo // ran on it last
	granted bool         // and the present host knows
	ending  bool
	busy    bool  // a trial ran on it after the last event
	since   int64 // since when it is free
}

func newLeasebook() leasebook {
	return leasebook{held: map[core.LeaseID]*leaseAccount{}, late: map[core.LeaseID]bool{}}
}

// beforeLease enters the engine's messages.
func (a *audit) beforeLease(e core.Event) {
	b := &a.leases
	clear(b.late)
	b.killed, b.adopts = attemptKey{core.NoTrial, 0}, 0
	id := leaseOf(e)
	l := b.held[id]
	if l == nil {
		if _, ok := e.(*core.LeaseGranted); ok {
			b.late[id] = true
		}
		return
	}
	switch e.(type) {
	case *core.LeaseGranted:
		if !l.granted {
			l.granted, l.since = true, a.at
		}
	case *core.LeaseEnding:
		l.ending = true
	case *core.LeaseRefused, *core.LeaseLost:
		delete(b.held, id)
		a.leaseGone(id)
	}
}

// leaseGone ends what ran on a lease. An attempt that had ended before waits for its checkpoints.
func (a *audit) leaseGone(id core.LeaseID) {
	for _, t := range a.trials {
		if !t.live || t.lease != id {
			continue
		}
		if t.lease = 0; !t.ended || a.spec.Rules < core.RulesV2 {
			a.leases.killed = attemptKey{t.no, t.attempt}
			t.over()
		}
	}
}

// used reports whether an attempt is on the lease.
func (a *audit) used(id core.LeaseID) bool {
	return slices.ContainsFunc(a.trials, func(t *account) bool { return t.live && t.lease == id })
}

// ids returns the held leases, in order.
func (a *audit) ids() []core.LeaseID { return slices.Sorted(maps.Keys(a.leases.held)) }

func (a *audit) leaseAction(x core.Action) error {
	switch x := x.(type) {
	case core.RequestLease:
		return a.request(x)
	case core.ReleaseLease:
		return a.releaseLease(x.Lease)
	case core.AdoptLeases:
		return a.adopt(x)
	}
	return nil
}

// request checks that numbers are consecutive, and that the number of held leases is within its limit.
func (a *audit) request(x core.RequestLease) error {
	b := &a.leases
	switch {
	case a.spec.Leases == nil || !a.hosted:
		return errors.New("nobody grants leases")
	case x.Lease != b.last+1:
		return fmt.Errorf("the last one was %d", b.last)
	case a.closing || a.ended || a.onHold:
		return errors.New("nothing may start")
	case len(b.held) >= a.mostLeases():
		return fmt.Errorf("%d are held", len(b.held))
	case x.For == core.NoTrial && (a.spec.Leases.OwnRequests || !x.Request.Equal(a.spec.Request)):
		return errors.New("it is for nobody")
	}
	if t := a.trial(x.For); x.For != core.NoTrial && (t == nil || a.m.State(x.For) != core.Pending ||
		!a.m.Request(x.For).Equal(x.Request)) {
		return errors.New("the trial does not wait for that")
	}
	b.last = x.Lease
	b.held[x.Lease] = &leaseAccount{request: x.Request, trial: x.For}
	return nil
}

func (a *audit) mostLeases() int {
	if a.spec.Concurrency > 0 {
		return int(a.spec.Concurrency)
	}
	if n := a.spec.Leases.Most; n > 0 {
		return int(n)
	}
	return 1024
}

func (a *audit) releaseLease(id core.LeaseID) error {
	switch {
	case a.leases.late[id]:
		delete(a.leases.late, id)
		return nil
	case a.leases.held[id] == nil:
		return errors.New("it is not held")
	case a.used(id):
		return errors.New("a trial runs on it")
	}
	delete(a.leases.held, id)
	return nil
}

// adopt checks that all held leases are adopted, except ending ones; none at the end of the
// experiment.
func (a *audit) adopt(x core.AdoptLeases) error {
	var want []core.LeaseID
	for _, id := range a.ids() {
		l := a.leases.held[id]
		if l.ending || a.closing || a.ended {
			delete(a.leases.held, id)
			continue
		}
		l.granted = false
		want = append(want, id)
	}
	if a.leases.adopts++; !slices.Equal(x.Leases, want) {
		return fmt.Errorf("%v are held", want)
	}
	return nil
}

// startOn checks that a trial starts on a lease that it may use.
func (a *audit) startOn(t *account, id core.LeaseID) error {
	if (id != 0) != (a.spec.Leases != nil && !a.spec.Manual) {
		return errors.New("is it on a lease?")
	}
	if id == 0 {
		return nil
	}
	l := a.leases.held[id]
	switch {
	case l == nil:
		return errors.New("the lease is not held")
	case !l.granted || l.ending:
		return fmt.Errorf("the lease is %+v", l)
	case a.used(id):
		return errors.New("another trial runs on the lease")
	case !l.request.Equal(t.asks(a.spec)):
		return fmt.Errorf("the lease is of %s", l.request)
	}
	t.lease, l.user = id, t.no
	return nil
}

// leasesWhole checks what is true of all leases after an event.
func (a *audit) leasesWhole(e core.Event) error {
	if _, ok := e.(*core.HostStarted); ok && a.spec.Leases != nil && !a.spec.Manual && a.leases.adopts != 1 {
		return fmt.Errorf("leases are adopted %d times", a.leases.adopts)
	}
	for id := range a.leases.late {
		return fmt.Errorf("lease %d was granted too late, and is not released", id)
	}
	if a.m.LeasesHeld() != len(a.leases.held) {
		return fmt.Errorf("it holds %d leases, but %d were requested", a.m.LeasesHeld(), len(a.leases.held))
	}
	for _, id := range a.ids() {
		if err := a.leaseWhole(id, a.leases.held[id]); err != nil {
			return fmt.Errorf("lease %d: %w", id, err)
		}
	}
	return nil
}

func (a *audit) leaseWhole(id core.LeaseID, l *leaseAccount) error {
	o, _ := a.m.Outcome()
	if l.busy {
		l.since = a.at
	}
	l.busy = a.used(id)
	switch {
	case l.busy:
	case o != 0 || a.m.Closing() && a.hosted:
		return errors.New("it is held though the experiment ends")
	case l.ending:
		return errors.New("it is ending, and not released")
	case l.granted && a.ask.Count == 0 && l.since+a.spec.Leases.IdleNS <= a.at:
		return errors.New("it was free for too long")
	case l.granted:
		return a.idleLease(l)
	}
	return nil
}

// idleLease checks that no trial waits that could run on a free lease.
func (a *audit) idleLease(l *leaseAccount) error {
	if !a.startsTrials() || a.waitsFor(l) {
		return nil
	}
	for _, t := range a.trials {
		if a.m.State(t.no) == core.Pending && t.asks(a.spec).Equal(l.request) {
			return fmt.Errorf("it is free, and trial %d waits for one like it", t.no)
		}
	}
	return nil
}

// waitsFor reports whether the trial that a lease was requested for still waits.
func (a *audit) waitsFor(l *leaseAccount) bool {
	t := a.trial(l.trial)
	return t != nil && a.m.State(t.no) == core.Pending && t.asks(a.spec).Equal(l.request)
}

// suggestible returns how many trials may be asked for, given the grants.
func (a *audit) suggestible() int {
	n := a.mostLeases()
	if a.spec.Leases.OwnRequests {
		for _, id := range a.ids() {
			if a.used(id) {
				n--
			}
		}
		return n
	}
	n = 0
	for _, id := range a.ids() {
		if l := a.leases.held[id]; l.granted && !a.used(id) && l.request.Equal(a.spec.Request) {
			n++
		}
	}
	return n
}
