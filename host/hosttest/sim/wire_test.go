package sim

import (
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
)

// wire is the network between a host and its cluster. Messages about one lease arrive in order,
// mostly; any message may be slow, fail and be sent again, or arrive twice.
type wire struct {
	sent    []*word                // by the host, not executed yet
	after   map[core.LeaseID]int64 // when the last message about a lease arrives at the cluster,
	before  map[core.LeaseID]int64 // and at the host
	adopted int64                  // when the adoption is complete; nothing else happens before
	said    []core.Event           // to this host
	gone    map[core.LeaseID]bool  // leases that were lost to this host,
	refused map[core.LeaseID]bool  // and refused
	// silenced are attempts whose process has gone with its lease.
	silenced map[attempt]bool
}

// word is a message to the cluster, which may arrive twice.
type word struct{ do func() }

func newWire() wire {
	return wire{after: map[core.LeaseID]int64{}, before: map[core.LeaseID]int64{},
		gone: map[core.LeaseID]bool{}, refused: map[core.LeaseID]bool{}, silenced: map[attempt]bool{}}
}

// order sends an action of the host to the cluster.
func (c *cluster) order(a core.Action) {
	switch a := a.(type) {
	case core.RequestLease:
		c.send(a.Lease, func() { c.request(a) })
	case core.ReleaseLease:
		c.send(a.Lease, func() { c.release(a.Lease) })
	case core.AdoptLeases:
		list := slices.Clone(a.Leases)
		c.send(0, func() { c.adopt(list) })
		c.adopted = c.after[0]
	}
}

func (c *cluster) send(id core.LeaseID, do func()) {
	at := max(c.w.now+c.latency(), c.after[id], c.adopted)
	x := &word{do}
	c.sent = append(c.sent, x)
	c.w.later(c.w.number, at-c.w.now, func() { c.arrive(x) })
	if c.one(c.faults.twice) && id != 0 {
		at += c.latency()
		c.w.later(c.w.number, at-c.w.now, do)
	}
	c.after[id] = at
}

func (c *cluster) arrive(x *word) {
	if i := slices.Index(c.sent, x); i >= 0 {
		c.sent = slices.Delete(c.sent, i, i+1)
		x.do()
	}
}

// latency is the travel time of a message. Failed messages are sent again after a while.
func (c *cluster) latency() int64 {
	in := between(c.r, 0, 20*time.Millisecond)
	if c.one(c.faults.slow) {
		in = between(c.r, 0, 40*time.Second)
	}
	for pause := time.Second; c.one(c.faults.fail); pause = min(2*pause, time.Minute) {
		in += int64(pause)
	}
	return in
}

// hangUp ends the connection of a killed host: some of its messages still arrive.
func (c *cluster) hangUp() {
	sent := c.sent
	c.wire = newWire()
	for _, x := range sent {
		if c.r.IntN(2) == 0 {
			x.do()
		}
	}
}

// drain waits until all messages of a host that ends in order are executed.
func (c *cluster) drain() {
	for len(c.sent) > 0 {
		c.arrive(c.sent[0])
	}
	c.wire = newWire()
}

// say sends an event to the host that uses a lease.
func (c *cluster) say(l *lease, e core.Event) {
	if c.w.host == nil || l.host != c.w.number {
		return // the next one asks
	}
	at := c.w.now + c.latency()
	if !c.one(c.faults.disorder) {
		at = max(at, c.before[l.id])
	}
	c.before[l.id] = max(at, c.before[l.id])
	c.tellAt(at, e)
	if c.one(c.faults.twice) {
		c.tellAt(at+c.latency(), e)
	}
}

func (c *cluster) tellAt(at int64, e core.Event) {
	c.w.later(c.w.number, at-c.w.now, func() {
		c.said = append(c.said, e)
		c.w.post(e)
	})
}

// repeat sends an old event again.
func (c *cluster) repeat(e core.Event) {
	c.w.log("late news: %T %+v", e, e)
	c.w.post(e)
}

// describe returns the state of a lease.
func (c *cluster) describe(l *lease) {
	if !l.granted {
		c.say(l, &core.LeasePending{Lease: l.id, Why: "others were first"})
		return
	}
	e := &core.LeaseGranted{Lease: l.id}
	for _, s := range l.place.Slots {
		e.Bundles = append(e.Bundles, core.LeasedBundle{Node: c.ledger.NodeName(s.Node), Devices: s.Devices})
	}
	if l.ending {
		e.Until = c.timeOfDay(l.at)
	}
	c.say(l, e)
	if l.ending {
		c.sayEnding(l)
	}
}

func (c *cluster) sayEnding(l *lease) {
	c.say(l, &core.LeaseEnding{Lease: l.id, At: c.timeOfDay(l.at)})
}

func (c *cluster) timeOfDay(at int64) int64 { return c.w.zones[c.w.zone] + at }
