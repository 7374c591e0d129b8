package sim

import (
	"maps"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// leasebook is what the record implies for leases: its events, and the core's actions. It is rebuilt
// when a loss of power removes events.
type leasebook struct {
	notes  []note
	held   map[core.LeaseID]*tenure
	last   core.LeaseID             // the highest that was ever requested
	losses map[core.TrialNo]uint32  // of leases under a running attempt
	again  map[core.TrialNo]uint32  // how often a trial was requeued for that
	dead   map[attempt]core.LeaseID // attempts whose lease was lost
	told   map[attempt]bool         // attempts that were told to end for good
}

// note is an event about leases, or an action.
type note struct {
	event int
	what  any
}

// tenure is a lease from its request to its release or loss.
type tenure struct {
	request   resource.Request
	forTrial  core.TrialNo
	granted   bool
	bundles   []core.LeasedBundle
	ending    bool
	inherited bool    // from an earlier host, and not confirmed
	user      attempt // number 0: none
	last      attempt // that used it under this host
	idle      bool    // nobody has used it since idleSince
	idleSince int64
}

func newLeasebook() leasebook {
	return leasebook{held: map[core.LeaseID]*tenure{}, losses: map[core.TrialNo]uint32{},
		again: map[core.TrialNo]uint32{}, dead: map[attempt]core.LeaseID{}, told: map[attempt]bool{}}
}

// cut drops what came after an event, which is lost.
func (l *leasebook) cut(n int) {
	if len(l.notes) == 0 || l.notes[len(l.notes)-1].event <= n {
		return
	}
	notes := l.notes
	*l = newLeasebook()
	for _, x := range notes {
		if x.event <= n {
			l.note(x.event, x.what)
		}
	}
}

// note enters an event or an action.
func (l *leasebook) note(event int, what any) {
	switch what := what.(type) {
	case core.RequestLease:
		l.held[what.Lease] = &tenure{request: what.Request, forTrial: what.For}
		l.last = max(l.last, what.Lease)
	case core.AdoptLeases: // the others are released
		maps.DeleteFunc(l.held, func(id core.LeaseID, _ *tenure) bool { return !slices.Contains(what.Leases, id) })
	case core.ReleaseLease:
		delete(l.held, what.Lease)
	case core.StartAttempt:
		if t := l.held[what.Lease]; t != nil {
			t.user = attempt{what.Trial, what.Attempt}
			t.last = t.user
		}
	case core.StopAttempt:
		l.told[attempt{what.Trial, what.Attempt}] = !what.Paused
	case *core.Tell:
		o := &what.Observation
		if o.Kind != core.SawRequeued || o.Retried || !o.Cause.Is(core.CauseLeaseLost) {
			return
		}
		l.again[o.Trial]++
		l.keep(event, &core.Tell{Observation: *o}) // the core uses the memory of its own again
		return
	case core.Event:
		if !l.hear(what) {
			return
		}
	default:
		return
	}
	l.keep(event, what)
}

func (l *leasebook) keep(event int, what any) { l.notes = append(l.notes, note{event, what}) }

// hear enters an event, if it is about leases.
func (l *leasebook) hear(e core.Event) bool {
	switch e := e.(type) {
	case *core.LeaseGranted:
		if t := l.held[e.Lease]; t != nil {
			if !t.granted {
				t.bundles = e.Bundles
			}
			t.granted, t.inherited = true, false
		}
	case *core.LeaseEnding:
		if t := l.held[e.Lease]; t != nil {
			t.ending = true
		}
	case *core.LeaseLost:
		l.lose(e.Lease)
	case *core.LeaseRefused:
		delete(l.held, e.Lease)
	case *core.HostStarted:
		for _, t := range l.held {
			t.inherited, t.idle, t.user, t.last = true, false, attempt{}, attempt{}
		}
	case *core.AttemptEnded:
		return l.vacate(attempt{e.Trial, e.Attempt})
	case *core.TrialReset:
		delete(l.again, e.Trial)
	default:
		return false
	}
	return true
}

func (l *leasebook) lose(id core.LeaseID) {
	t := l.held[id]
	if t == nil {
		return
	}
	delete(l.held, id)
	if t.user.number > 0 {
		l.dead[t.user] = id
		l.losses[t.user.trial]++
	}
}

// vacate: an attempt has ended, and with it the use of its lease.
func (l *leasebook) vacate(a attempt) bool {
	t := l.held[l.of(a)]
	if t != nil {
		t.user = attempt{}
	}
	return t != nil
}

// of returns the lease that an attempt runs on; 0: none.
func (l *leasebook) of(a attempt) core.LeaseID {
	for id, t := range l.held {
		if t.user == a {
			return id
		}
	}
	return 0
}

// free reports whether an attempt may start on it.
func (t *tenure) free() bool { return t.granted && !t.ending && !t.inherited && t.user.number == 0 }

// free counts the granted leases that are not used.
func (l *leasebook) free() (n int) {
	for _, t := range l.held {
		if t.free() {
			n++
		}
	}
	return n
}

// ids returns the held leases.
func (l *leasebook) ids() []core.LeaseID { return slices.Sorted(maps.Keys(l.held)) }
