package sim

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// cluster is an engine that grants leases: it has nodes and a queue. It is outside of every host, so
// that its leases survive a host's death. All its events are drawn from a generator of its own.
type cluster struct {
	w      *world
	r      *rand.Rand
	rules  core.Leases // that the experiment asks by
	faults clusterFaults
	ledger *resource.Ledger
	down   []bool // by node
	leases map[core.LeaseID]*lease
	queue  []*lease // in the order of their requests
	wire
}

// lease is a request that the cluster has, granted or not.
type lease struct {
	id      core.LeaseID
	request resource.Request
	ready   int64 // when it may be granted at the earliest
	granted bool
	place   resource.Placement
	ending  bool
	at      int64 // when it ends, by the world's clock
	host    int   // the host that is told of it
}

// clusterFaults are how often things go wrong, in thousandths of steps, or of requests and messages.
type clusterFaults struct {
	notice, preempt, node, partition, news int
	refuse                                 int           // of requests
	slow, fail, twice, disorder            int           // of messages between host and cluster
	wait                                   time.Duration // in the queue, at most
	strict                                 bool          // requests are served in order
}

// drawCluster draws the engine of a world; nil in most worlds.
func drawCluster(w *world) (*cluster, error) {
	r := rand.New(rand.NewPCG(w.seed, 0x6c656173))
	switch o := w.options; {
	case o.Leases == Never, o.Leases == Drawn && (o.Narrow || o.Small || r.IntN(3) > 0):
		return nil, nil
	}
	c := &cluster{w: w, r: r, rules: drawRules(r), faults: drawClusterFaults(r), ledger: resource.NewLedger(),
		leases: map[core.LeaseID]*lease{}, down: make([]bool, len(w.plan.nodes)), wire: newWire()}
	for _, n := range w.plan.nodes {
		if err := c.ledger.AddNode(n); err != nil {
			return nil, err
		}
	}
	w.plan.onLeases(r)
	return c, w.plan.parse()
}

func drawRules(r *rand.Rand) core.Leases {
	return core.Leases{IdleNS: int64(pick(r, []time.Duration{0, time.Second, 20 * time.Second, 10 * time.Minute})),
		OwnRequests: r.IntN(3) == 0, Most: uint32(1 + r.IntN(6))}
}

func drawClusterFaults(r *rand.Rand) clusterFaults {
	return clusterFaults{notice: strength(r, 60), preempt: strength(r, 40), node: strength(r, 20),
		partition: strength(r, 40), news: strength(r, 80), refuse: strength(r, 200), slow: strength(r, 300),
		fail: strength(r, 300), twice: strength(r, 300), disorder: strength(r, 300),
		wait:   pick(r, []time.Duration{0, time.Second, 20 * time.Second, 5 * time.Minute}),
		strict: r.IntN(2) == 0}
}

// onLeases draws the other settings of trials on leases.
func (p *plan) onLeases(r *rand.Rand) {
	if r.IntN(4) == 0 {
		p.set("wait_for_resources", "false")
	}
	if r.IntN(2) == 0 {
		p.set("failures", "{retries: %d, lost: %d}", r.IntN(5)-1, r.IntN(3))
	}
}

// one returns true in this many of a thousand cases, unless the world is calm.
func (c *cluster) one(thousandth int) bool {
	return !c.w.calm && thousandth > 0 && c.r.IntN(1000) < thousandth
}

// misfortune is what may happen in the cluster before each step.
func (c *cluster) misfortune() {
	f := &c.faults
	if c.one(f.node) {
		c.nodeTrouble(c.r.IntN(len(c.down)))
	}
	if c.one(f.news) && len(c.said) > 0 {
		c.repeat(pick(c.r, c.said))
	}
	switch l := c.anyGranted(); {
	case l == nil:
	case c.one(f.notice):
		c.warn(l)
	case c.one(f.preempt):
		c.take(l, "preempted")
	case c.one(f.partition):
		c.cutOff(l)
	}
}

func (c *cluster) all() []*lease {
	var list []*lease
	for _, id := range slices.Sorted(maps.Keys(c.leases)) {
		list = append(list, c.leases[id])
	}
	return list
}

func (c *cluster) anyGranted() *lease {
	list := slices.DeleteFunc(c.all(), func(l *lease) bool { return !l.granted })
	if len(list) == 0 {
		return nil
	}
	return pick(c.r, list)
}

// request puts a lease in the queue. A repeated request for the same lease changes nothing.
func (c *cluster) request(a core.RequestLease) {
	if l := c.leases[a.Lease]; l != nil {
		l.host = c.w.number
		c.describe(l)
		return
	}
	l := &lease{id: a.Lease, request: a.Request, ready: c.w.now + between(c.r, 0, c.faults.wait), host: c.w.number}
	if c.gone[l.id] { // its request came once more
		c.say(l, &core.LeaseLost{Lease: l.id, Why: "it was taken away"})
		return
	}
	if c.refused[l.id] || c.one(c.faults.refuse) {
		c.refused[l.id] = true
		c.say(l, &core.LeaseRefused{Lease: l.id, Why: "there is no such partition"})
		return
	}
	c.w.lived.Leases++
	c.leases[l.id] = l
	c.queue = append(c.queue, l)
	if c.r.IntN(2) == 0 {
		c.describe(l)
	}
	c.w.later(0, l.ready-c.w.now, c.serve)
}

// serve grants free nodes to waiting leases.
func (c *cluster) serve() {
	for _, l := range slices.Clone(c.queue) {
		if l.ready > c.w.now || !c.grant(l) {
			if c.faults.strict {
				return
			}
		}
	}
}

func (c *cluster) grant(l *lease) bool {
	place, ok := c.ledger.Place(l.request)
	if !ok {
		return false
	}
	l.granted, l.place = true, place
	c.queue = slices.DeleteFunc(c.queue, func(x *lease) bool { return x == l })
	c.describe(l)
	return true
}

// release takes a lease back; it may be called any number of times.
func (c *cluster) release(id core.LeaseID) {
	if l := c.leases[id]; l != nil {
		c.drop(l)
		c.free(l)
	}
}

func (c *cluster) drop(l *lease) {
	delete(c.leases, l.id)
	c.queue = slices.DeleteFunc(c.queue, func(x *lease) bool { return x == l })
}

func (c *cluster) free(l *lease) {
	if l.granted {
		if err := c.ledger.Release(l.place); err != nil {
			panic(err)
		}
	}
	c.serve()
}

// adopt releases what is not in the list, and reports the state of everything in it.
func (c *cluster) adopt(list []core.LeaseID) {
	for _, l := range c.all() {
		if !slices.Contains(list, l.id) {
			c.release(l.id)
		}
	}
	for _, id := range list {
		l := c.leases[id]
		if l == nil {
			l = &lease{id: id, host: c.w.number}
			c.say(l, &core.LeaseLost{Lease: id, Why: "there is no such lease"})
			continue
		}
		l.host = c.w.number
		c.describe(l)
	}
}

// warn announces that a lease will be taken away.
func (c *cluster) warn(l *lease) {
	if l.ending {
		return
	}
	c.w.log("lease %d is going to be taken away", l.id)
	l.ending, l.at = true, c.w.now+between(c.r, 0, 2*time.Minute)
	c.sayEnding(l)
	c.w.later(0, l.at-c.w.now, func() {
		if c.leases[l.id] == l {
			c.take(l, "its time is over")
		}
	})
}

// take takes a lease away, with what runs on it.
func (c *cluster) take(l *lease, why string) {
	c.w.log("lease %d is taken away: %s", l.id, why)
	c.w.lived.Lost++
	c.w.evict(l.id)
	c.say(l, &core.LeaseLost{Lease: l.id, Why: why})
	c.gone[l.id] = l.host == c.w.number
	c.drop(l)
	c.free(l)
}

// cutOff partitions the network: the lease is lost to the host, and what runs on it continues and
// reports for a while.
func (c *cluster) cutOff(l *lease) {
	c.w.log("lease %d is cut off", l.id)
	c.w.lived.Lost++
	while := between(c.r, 0, 20*time.Second)
	if p := c.w.tenant(l.id); p != nil {
		c.w.evict(l.id)
		c.haunt(p, c.w.now+while)
	}
	c.say(l, &core.LeaseLost{Lease: l.id, Why: "its node does not answer"})
	c.gone[l.id] = l.host == c.w.number
	c.drop(l)
	c.w.later(0, while, func() { c.free(l) })
}

// haunt lets a process continue that the host believes to be dead.
func (c *cluster) haunt(p *proc, until int64) {
	in := between(c.r, 10*time.Millisecond, 3*time.Second)
	if p.credits == 0 || p.hung || p.nonsense != "" || c.w.now+in > until {
		return
	}
	c.w.later(c.w.number, in, func() {
		p.credits--
		p.iteration++
		c.w.report(p, c.w.result(p))
		c.haunt(p, until)
	})
}

// stands reports whether a host may use a lease, as far as the cluster knows.
func (c *cluster) stands(id core.LeaseID) bool {
	l := c.leases[id]
	return l != nil && l.granted
}

// tenant returns the process on a lease.
func (w *world) tenant(id core.LeaseID) *proc {
	for _, p := range w.procs {
		if p.lease == id && id != 0 {
			return p
		}
	}
	return nil
}

// evict ends the process on a lease.
func (w *world) evict(id core.LeaseID) {
	if p := w.tenant(id); p != nil {
		delete(w.procs, p.trial)
		w.cluster.silenced[attempt{p.trial, p.attempt}] = true
	}
}

// nodeTrouble takes a node down, with all leases on it, or brings it back.
func (c *cluster) nodeTrouble(i int) {
	if c.down[i] {
		c.nodeBack(i)
		return
	}
	c.w.log("node %d of the cluster is down", i+1)
	c.down[i] = true
	id := c.w.plan.nodes[i].ID
	if err := c.ledger.RemoveNode(id); err != nil {
		panic(err)
	}
	for _, l := range c.all() {
		if slices.ContainsFunc(l.place.Slots, func(s resource.Slot) bool { return s.Node == id }) {
			c.take(l, "its node is down")
		}
	}
}

func (c *cluster) nodeBack(i int) {
	if !c.down[i] {
		return
	}
	c.down[i] = false
	if err := c.ledger.AddNode(c.w.plan.nodes[i]); err != nil {
		panic(err)
	}
	c.serve()
}

// becalm brings all nodes back.
func (c *cluster) becalm() {
	for i := range c.down {
		c.nodeBack(i)
	}
}
