package coretest

import (
	"slices"

	"github.com/tunehost/tunehost/core"
)

// cluster is the engine of a world: it queues requests, grants them at any time, refuses them, takes
// leases away with and without notice, and forgets them.
type cluster struct{ leases []*leased }

// leased is a lease that the cluster has.
type leased struct {
	id      core.LeaseID
	bundles int
	granted bool
	ending  bool
	asked   bool // a host asks for its state
	unknown bool // it does not exist, and a host asks for its state
}

func (c *cluster) find(id core.LeaseID) *leased {
	for _, l := range c.leases {
		if l.id == id {
			return l
		}
	}
	return nil
}

func (c *cluster) drop(gone *leased) {
	c.leases = slices.DeleteFunc(c.leases, func(l *leased) bool { return l == gone })
}

// hear passes an action to the cluster.
func (c *cluster) hear(a core.Action) {
	switch a := a.(type) {
	case core.RequestLease:
		c.leases = append(c.leases, &leased{id: a.Lease, bundles: len(a.Request.Bundles()), asked: true})
	case core.ReleaseLease:
		c.drop(c.find(a.Lease))
	case core.AdoptLeases:
		c.leases = slices.DeleteFunc(c.leases, func(l *leased) bool { return !slices.Contains(a.Leases, l.id) })
		for _, id := range a.Leases {
			l := c.find(id)
			if l == nil {
				l = &leased{id: id, unknown: true}
				c.leases = append(c.leases, l)
			}
			l.asked = true
		}
	}
}

// loseLeaseEvents: while no host runs, a request was lost, or a lease was taken away.
func (w *World) loseLeaseEvents() {
	for n := w.r.IntN(3); n > 1 && len(w.cluster.leases) > 0; n-- {
		w.cluster.drop(pick(w, w.cluster.leases))
	}
}

// engines returns what the cluster can do next.
func (w *World) engines() (can []func() []core.Event) {
	for _, l := range w.cluster.leases {
		if l.asked || !l.granted {
			can = append(can, func() []core.Event { return w.answer(l) })
		}
	}
	return can
}

// answer answers a host that waits for a lease.
func (w *World) answer(l *leased) []core.Event {
	switch {
	case l.unknown || w.wrong() && w.one(3):
		w.cluster.drop(l)
		return w.news(&core.LeaseLost{Lease: l.id, Why: "unknown"})
	case !l.granted && w.wrong() && w.one(3):
		w.cluster.drop(l)
		return w.news(&core.LeaseRefused{Lease: l.id, Why: "no such node"})
	case !l.granted && !w.calm && w.one(2):
		return w.news(&core.LeasePending{Lease: l.id, Why: "others are before it"})
	}
	l.granted, l.asked = true, false
	e := &core.LeaseGranted{Lease: l.id}
	for range l.bundles {
		e.Bundles = append(e.Bundles, core.LeasedBundle{Node: pick(w, []string{"a", "b", "c"})})
	}
	return w.news(e)
}

// takesAway ends a lease, with or without notice, or repeats an earlier message. What runs on a lost
// lease may continue for a while: its node is cut off.
func (w *World) takesAway() []core.Event {
	if len(w.cluster.leases) == 0 {
		return nil
	}
	l := pick(w, w.cluster.leases)
	switch {
	case l.unknown || l.asked && l.granted:
		return nil
	case w.one(4) && l.granted:
		return w.news(&core.LeaseGranted{Lease: l.id, Bundles: []core.LeasedBundle{{Node: "d"}}})
	case w.one(2) && !l.ending:
		l.ending = true
		return w.news(&core.LeaseEnding{Lease: l.id, At: 1_700_000_000_000_000_000 + w.at})
	case l.granted && w.one(5):
		w.cluster.drop(l)
		return w.news(&core.LeaseRefused{Lease: l.id, Why: "not any more"})
	}
	w.cluster.drop(l)
	return w.news(&core.LeaseLost{Lease: l.id, Why: "node down"})
}

// news remembers an event that may be repeated later, when the lease is gone.
func (w *World) news(e core.Event) []core.Event {
	w.old = append(w.old, e)
	return []core.Event{e}
}

// leaseOf returns the lease that an engine's event is about; 0: none.
func leaseOf(e core.Event) core.LeaseID {
	switch e := e.(type) {
	case *core.LeaseGranted:
		return e.Lease
	case *core.LeasePending:
		return e.Lease
	case *core.LeaseRefused:
		return e.Lease
	case *core.LeaseEnding:
		return e.Lease
	case *core.LeaseLost:
		return e.Lease
	}
	return 0
}

// leaseSettings returns the settings of a world with an engine; nil: it has none.
func (w *World) leaseSettings() *core.Leases {
	if !w.one(3) {
		return nil
	}
	return &core.Leases{IdleNS: pick(w, []int64{0, 2_000_000, 50_000_000, 10_000_000_000}), OwnRequests: w.one(3),
		Most: w.r.Uint32N(5)}
}
