package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// rents checks an action about leases, and enters it. It is called for every action.
func (b *books) rents(a core.Action) {
	if b.w.cluster == nil {
		b.localOnly(a)
		return
	}
	switch a := a.(type) {
	case core.RequestLease:
		b.requests(a)
	case core.ReleaseLease:
		b.releases(a)
	case core.AdoptLeases:
		b.adopts(a)
	case core.StartAttempt:
		b.startsOn(a)
	case core.AskSearcher:
		b.open = true
		b.asksLate(a)
	case core.Finish:
		if len(b.leases.held) > 0 {
			b.fail("the experiment ends, and it holds leases %v", b.leases.ids())
		}
	}
	b.leases.note(b.applied, a)
	b.losesFew(a)
}

// localOnly: without an engine there are no leases.
func (b *books) localOnly(a core.Action) {
	switch a := a.(type) {
	case core.RequestLease, core.ReleaseLease, core.AdoptLeases:
		b.fail("%T %+v, and there is no engine", a, a)
	case core.StartAttempt:
		if a.Lease != 0 {
			b.fail("trial %d is started on lease %d, and there is no engine", a.Trial, a.Lease)
		}
	}
}

// requests checks that each lease has a new number, and that there are no more than allowed.
func (b *books) requests(a core.RequestLease) {
	if a.Lease != b.leases.last+1 {
		b.fail("lease %d is requested after lease %d", a.Lease, b.leases.last)
	}
	if n := len(b.leases.held); n >= b.mostLeases() {
		b.fail("lease %d is requested, and %v are held; %d may be", a.Lease, b.leases.ids(), b.mostLeases())
	}
	if a.For == core.NoTrial && a.Request.Key() != b.machine.Spec().Request.Key() {
		b.fail("lease %d is for any trial, and asks for %s", a.Lease, a.Request)
	}
	if a.For != core.NoTrial && a.Request.Key() != b.machine.Request(a.For).Key() {
		b.fail("lease %d is for trial %d, which asks for %s, and it asks for %s", a.Lease, a.For,
			b.machine.Request(a.For), a.Request)
	}
	if extra := b.unused(a.Request) - b.maybeMore(); extra >= 0 {
		b.fail("lease %d is requested, and there are %d more than trials to come", a.Lease, extra+1)
	}
	if b.lives && !b.adopted {
		b.fail("lease %d is requested before those of earlier hosts are adopted", a.Lease)
	}
}

// unused counts the unused leases of a request, granted or not.
func (b *books) unused(r resource.Request) (n int) {
	for _, t := range b.leases.held {
		if t.user.number == 0 && !t.ending && t.request.Equal(r) && !b.leaving(t.last) {
			n++
		}
	}
	return n
}

// maybeMore counts the trials that wait or may still come.
func (b *books) maybeMore() int {
	s := b.machine.Spec()
	if s.Trials < 0 {
		return math.MaxInt
	}
	n := b.machine.Count(core.Pending) + b.machine.Count(core.Paused)
	return n + int(max(s.Trials-b.machine.Planned(), 0))*max(int(s.Repeat), 1)
}

func (b *books) mostLeases() int {
	s := b.machine.Spec()
	if s.Concurrency > 0 {
		return int(s.Concurrency)
	}
	return int(s.Leases.Most)
}

// releases checks that a lease is released once, and when nothing runs on it. A lease that is granted
// after its release is released again.
func (b *books) releases(a core.ReleaseLease) {
	t := b.leases.held[a.Lease]
	late, _ := b.event.(*core.LeaseGranted)
	switch {
	case t == nil && (late == nil || late.Lease != a.Lease):
		b.fail("lease %d is released, which is not held: %v", a.Lease, b.leases.ids())
	case t != nil && t.user.number > 0:
		b.fail("lease %d is released, on which attempt %+v runs", a.Lease, t.user)
	}
	if p := b.w.tenant(a.Lease); b.lives && p != nil {
		b.fail("lease %d is released, and the process of trial %d runs on it", a.Lease, p.trial)
	}
}

// adopts checks that a host that takes over the experiment adopts exactly what the record holds;
// ending leases may be left out, and at the end of the experiment all.
func (b *books) adopts(a core.AdoptLeases) {
	if _, ok := b.event.(*core.HostStarted); !ok {
		b.fail("leases %v are adopted by %T", a.Leases, b.event)
	}
	for _, id := range a.Leases {
		if b.leases.held[id] == nil {
			b.fail("lease %d is adopted, which is not held: %v", id, b.leases.ids())
		}
	}
	outcome, _ := b.machine.Outcome()
	needed := outcome == 0 && !b.machine.Closing()
	for id, t := range b.leases.held {
		if needed && !t.ending && !slices.Contains(a.Leases, id) {
			b.fail("leases %v are adopted, and %v are held", a.Leases, b.leases.ids())
		}
	}
	b.adopted = true
}

// startsOn checks that a trial starts on a lease of its own, with the requested resources.
func (b *books) startsOn(a core.StartAttempt) {
	t := b.leases.held[a.Lease]
	switch {
	case t == nil:
		b.fail("trial %d is started on lease %d, which is not held", a.Trial, a.Lease)
		return
	case !t.free():
		b.fail("trial %d is started on lease %d: %+v", a.Trial, a.Lease, *t)
	case t.request.Key() != b.machine.Request(a.Trial).Key():
		b.fail("trial %d is started on lease %d of %s, and asks for %s", a.Trial, a.Lease, t.request,
			b.machine.Request(a.Trial))
	case len(a.Placement.Slots) != len(t.bundles):
		b.fail("trial %d is started on %+v, and lease %d has %+v", a.Trial, a.Placement.Slots, a.Lease, t.bundles)
		return
	}
	for i, s := range a.Placement.Slots {
		if b.machine.NodeName(s.Node) != t.bundles[i].Node || !slices.Equal(s.Devices, t.bundles[i].Devices) {
			b.fail("trial %d is started on %+v, and lease %d has %+v", a.Trial, s, a.Lease, t.bundles[i])
		}
	}
}

// asksLate checks that, if a lease fits any trial, the searcher is asked when one is granted, so that
// a suggestion uses all results up to then.
func (b *books) asksLate(a core.AskSearcher) {
	if b.machine.Spec().Leases.OwnRequests {
		return
	}
	runs := max(int(b.machine.Spec().Repeat), 1)
	if free := b.leases.free(); (a.Count-1)*runs >= free {
		b.fail("the searcher is asked for %d suggestions, and %d leases are free", a.Count, free)
	}
}

// losesFew checks that a trial is queued again for a lost lease as often as the file allows.
func (b *books) losesFew(a core.Action) {
	t, ok := a.(*core.Tell)
	if !ok || t.Observation.Kind != core.SawRequeued {
		return
	}
	b.maxLost = max(b.maxLost, b.machine.Spec().Lost)
	if n := b.leases.again[t.Observation.Trial]; n > b.maxLost {
		b.fail("trial %d goes back in line after %d lost leases; %d are allowed", t.Observation.Trial, n, b.maxLost)
	}
}

// tenants notes an event, and checks that no trial is blamed for the actions of an
// engine (B-075).
func (b *books) tenants(e core.Event) {
	if b.w.cluster == nil {
		return
	}
	b.event = e
	switch e.(type) {
	case *core.SuggestionsReceived, *core.HostStarted:
		b.open = false
	}
	b.leases.note(b.applied, e)
	for no := range b.failures {
		was, now := b.failures[no], b.machine.View(core.TrialNo(no)).Failures
		b.failures[no] = now
		if now > was && b.blameless(e, core.TrialNo(no)) {
			b.fail("trial %d has %d failures (%+v) after %T %+v", no, now, b.machine.View(core.TrialNo(no)).Cause, e, e)
		}
	}
}

// blameless reports whether an event is not a failure of a trial. A report that broke a rule is one, also where the
// attempt ends with its lease before the host has ended it.
func (b *books) blameless(e core.Event, no core.TrialNo) bool {
	switch e.(type) {
	case *core.LeaseLost:
		told := b.leases.told[attempt{no, b.attempts[no]}]
		why := b.machine.View(no).Cause.Kind
		broke := why == core.CauseInvalidReport || why == core.CauseMetricMissing
		return !told && !broke && b.leases.losses[no] <= b.machine.Spec().Lost
	case *core.LeaseGranted, *core.LeasePending, *core.LeaseEnding:
		return true
	}
	return false
}

// leased checks after a step that the leases of earlier hosts have been adopted, and that
// trials leave leases that end (B-132).
func (b *books) leased() {
	if b.w.cluster == nil {
		return
	}
	if !b.adopted {
		b.fail("the host has not adopted what earlier ones have left: %v", b.leases.ids())
	}
	for _, id := range b.leases.ids() {
		t := b.leases.held[id]
		b.idles(id, t)
		if !t.ending || t.inherited {
			continue
		}
		if _, told := b.leases.told[t.user]; t.user.number > 0 && !told {
			b.fail("lease %d is to end, and attempt %+v was not told to stop", id, t.user)
		}
		if t.user.number == 0 && !b.leaving(t.last) {
			b.fail("lease %d is to end, and is not released", id)
		}
	}
}

// idles checks that an unused lease is kept for a while, unless the searcher has been asked for
// a trial for it.
func (b *books) idles(id core.LeaseID, t *tenure) {
	now := b.machine.Now()
	switch {
	case !t.free() || b.leaving(t.last) || b.open:
		t.idle = false
	case !t.idle:
		t.idle, t.idleSince = true, now
	case now >= t.idleSince+b.machine.Spec().Leases.IdleNS && now > t.idleSince:
		b.fail("nobody has used lease %d since %v, and it is still held", id, time.Duration(t.idleSince))
	}
}

// leaving reports whether an ended attempt still saves.
func (b *books) leaving(a attempt) bool {
	return a.number > 0 && b.machine.State(a.trial) == core.Running && b.machine.View(a.trial).Attempt == a.number
}

// vacant checks that the cluster holds no lease of the experiment after a host has ended in order.
func (b *books) vacant() {
	c := b.w.cluster
	if c == nil {
		return
	}
	if len(c.leases) > 0 {
		b.fail("the host has left, and the cluster holds %d leases: %s", len(c.leases), c.standing())
	}
}

// standing describes the cluster, for a run that does not end.
func (c *cluster) standing() (text string) {
	for _, l := range c.all() {
		text += fmt.Sprintf(" lease %d of %s granted %t ending %t;", l.id, l.request, l.granted, l.ending)
	}
	return text
}
