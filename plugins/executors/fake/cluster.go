package fake

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// cluster is the complete state of the cluster, as stored in the file.
// Times are nanoseconds since 1970. What happens to it is a function of the options
// and of time.
type cluster struct {
	// Now is the time up to which everything has happened.
	Now int64 `json:"now"`
	// Asked counts the leases that were ever asked for, Calls the calls.
	Asked uint64 `json:"asked"`
	Calls uint64 `json:"calls"`
	// Lost and Cut are when the next node is lost or cut off; 0: not drawn yet.
	Lost disaster `json:"lost"`
	Cut  disaster `json:"cut"`
	// Down is until when nodes are down, by their number.
	Down   map[int]int64     `json:"down"`
	Leases map[string]*lease `json:"leases"`
	// Hosts is when each experiment had a host for the last time.
	Hosts map[string]int64 `json:"hosts"`
	// Agents are the agents of each lease, in the order of its bundles.
	Agents map[string][]process `json:"agents,omitempty"`
}

// disaster has the times of a kind of failure of nodes.
type disaster struct {
	Next  int64  `json:"next"`
	Count uint64 `json:"count"`
}

// stage is the state of a lease.
type stage string

const (
	waiting stage = "waiting"
	granted stage = "granted"
	ending  stage = "ending"
	lost    stage = "lost"
	refused stage = "refused"
)

type lease struct {
	Request sdk.LeaseRequest `json:"request"`
	Prefix  string           `json:"prefix"` // its experiment
	Number  uint64           `json:"number"` // its place in the queue
	Asked   int64            `json:"asked"`
	Stage   stage            `json:"stage"`
	Why     string           `json:"why,omitempty"`
	Places  []place          `json:"places,omitempty"` // of each bundle, once it is granted
	// Notice is when it is said to end, End when it is gone, and Ends why; 0: never.
	Notice int64  `json:"notice,omitempty"`
	End    int64  `json:"end,omitempty"`
	Ends   string `json:"ends,omitempty"`
	// Limit is the end that is known when it is granted; 0: none.
	Limit int64 `json:"limit,omitempty"`
}

// place is where a bundle lies.
type place struct {
	Node int   `json:"node"`
	GPUs []int `json:"gpus,omitempty"`
}

func newCluster(now int64) *cluster {
	return &cluster{Now: now, Down: map[int]int64{}, Leases: map[string]*lease{}, Hosts: map[string]int64{}}
}

// draw returns a number from 0 to 1 that depends on the seed, a purpose and a count.
func (o *options) draw(purpose string, n uint64) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, o.Seed, purpose, n)
	x := h.Sum64()
	x = (x ^ x>>31) * 0x9e3779b97f4a7c15
	return float64((x^x>>29)>>11) / (1 << 53)
}

// around returns a time between half and one and a half of a mean.
func (o *options) around(mean float64, purpose string, n uint64) int64 {
	return span(mean * (0.5 + o.draw(purpose, n)))
}

// ask takes a lease into the queue, once.
func (c *cluster) ask(o *options, prefix string, r sdk.LeaseRequest) {
	if _, twice := c.Leases[r.Lease]; twice {
		return
	}
	c.Asked++
	l := &lease{Request: r, Prefix: prefix, Number: c.Asked, Asked: c.Now, Stage: waiting, Why: "in the queue"}
	c.Leases[r.Lease] = l
	switch {
	case !newCluster(0).room(o).place(r, nil):
		l.refuse(fmt.Sprintf("no place for %s in a cluster of %s", words(r), nodesText(o)))
	case o.draw("refuse", l.Number) < o.Refuse:
		l.refuse("the account may not use this cluster today")
	}
}

func (l *lease) refuse(why string) { l.Stage, l.Why = refused, why }

// maxEvents limits the events replayed for a time without a host, apart from those of each lease itself.
const maxEvents = 1000

// advance applies all events until now.
func (c *cluster) advance(o *options, now int64) {
	for left := maxEvents + 4*len(c.Leases); c.Now < now; left-- {
		if left == 0 {
			c.skip(now)
			break
		}
		c.Now = min(now, c.next(o))
		c.happen(o)
	}
	c.happen(o)
}

// skip continues to a time without what happens until then: each lease is lost, and each node is up again.
func (c *cluster) skip(now int64) {
	for _, l := range c.Leases {
		if l.holds() {
			l.lose("too much happened on the cluster while no host ran")
		}
	}
	clear(c.Down)
	c.Now, c.Lost.Next, c.Cut.Next = now, 0, 0
}

// next is when something happens after Now by itself.
func (c *cluster) next(o *options) int64 {
	next := int64(math.MaxInt64)
	soon := func(at int64) {
		if at > c.Now && at < next {
			next = at
		}
	}
	for _, l := range c.Leases {
		switch l.Stage {
		case waiting:
			soon(l.Asked + span(o.Queue))
		case granted, ending:
			soon(l.Notice)
			soon(l.End)
		}
	}
	for _, until := range c.Down {
		soon(until)
	}
	for _, seen := range c.Hosts {
		soon(seen + span(o.HostGrace))
	}
	soon(c.Lost.Next)
	soon(c.Cut.Next)
	return next
}

// happen is everything that happens at Now.
func (c *cluster) happen(o *options) {
	c.forgetHosts(o)
	maps.DeleteFunc(c.Down, func(_ int, until int64) bool { return until <= c.Now })
	c.strike(o, &c.Lost, "lose", o.LoseNode, "the node %s failed")
	c.strike(o, &c.Cut, cutting, o.CutOff, "the node %s is cut off; processes there may continue for a while")
	for _, l := range c.queue() {
		l.age(c.Now)
	}
	c.grantAll(o)
}

// grantAll gives leases their places, in the order of the queue.
func (c *cluster) grantAll(o *options) {
	var room room // computed only if a lease waits
	for _, l := range c.queue() {
		if l.Stage != waiting || l.Asked+span(o.Queue) > c.Now {
			continue
		}
		if room == nil {
			room = c.room(o)
		}
		c.grant(o, room, l)
	}
}

// queue is the leases in the order in which they were asked for.
func (c *cluster) queue() []*lease {
	return slices.SortedFunc(maps.Values(c.Leases), func(a, b *lease) int { return cmp.Compare(a.Number, b.Number) })
}

// forgetHosts takes the leases of experiments away that have no host for too long.
func (c *cluster) forgetHosts(o *options) {
	for prefix, seen := range c.Hosts {
		if seen+span(o.HostGrace) <= c.Now {
			delete(c.Hosts, prefix)
			maps.DeleteFunc(c.Leases, func(_ string, l *lease) bool { return l.Prefix == prefix })
			// Agents end by themselves in the same time.
			maps.DeleteFunc(c.Agents, func(name string, _ []process) bool { return strings.HasPrefix(name, prefix) })
		}
	}
}

// strike takes a node down, if it is time.
func (c *cluster) strike(o *options, d *disaster, purpose string, mean float64, why string) {
	if mean == 0 {
		return
	}
	if d.Next > 0 && d.Next <= c.Now {
		node := int(o.draw(purpose+" node", d.Count) * float64(o.Nodes))
		c.Down[node] = c.Now + span(o.Repair)
		c.nodeLost(o, node, purpose, fmt.Sprintf(why, nodeName(node)))
		d.Next = 0
	}
	if d.Next == 0 {
		d.Count++
		d.Next = c.Now + max(o.around(mean, purpose, d.Count), 1)
	}
}

// nodeLost ends the leases and agents of a node that is lost or cut off. The engine does not notice that
// a node with agents is cut off: their host does.
func (c *cluster) nodeLost(o *options, node int, purpose, why string) {
	cut := purpose == cutting
	if o.Agents && cut {
		c.cutNode(node, c.Down[node])
		return
	}
	for _, l := range c.Leases {
		if l.on(node) {
			l.lose(why)
		}
	}
	if o.Agents {
		c.killNode(node)
	}
}

// cutting is the purpose of strikes that cut nodes off.
const cutting = "cut"

// on says whether a lease that counts has a bundle on the node.
func (l *lease) on(node int) bool {
	return l.holds() && slices.ContainsFunc(l.Places, func(p place) bool { return p.Node == node })
}

func (l *lease) holds() bool { return l.Stage == granted || l.Stage == ending }

func (l *lease) lose(why string) { l.Stage, l.Why = lost, why }

// age ends a lease, or says that it ends.
func (l *lease) age(now int64) {
	switch {
	case !l.holds() || l.End == 0:
	case l.End <= now:
		l.lose(l.Ends)
	case l.Notice > 0 && l.Notice <= now:
		l.Stage, l.Why = ending, l.Ends
	}
}

// grant gives a lease its places, if there is room.
func (c *cluster) grant(o *options, room room, l *lease) {
	if !room.place(l.Request, &l.Places) {
		l.Why = "no node has room for " + words(l.Request)
		return
	}
	l.Stage, l.Why = granted, ""
	l.endBy(c.Now+span(o.Time), o.Time > 0, o.Notice, "its time is over")
	l.Limit = l.End
	l.endBy(c.Now+o.around(o.Preempt, "preempt", l.Number), o.Preempt > 0, o.Notice, "preempted")
}

// endBy ends a lease at a time, unless it ends sooner.
func (l *lease) endBy(at int64, applies bool, notice float64, why string) {
	if !applies || l.End > 0 && l.End <= at {
		return
	}
	l.End, l.Ends, l.Notice = at, why, 0
	if notice > 0 {
		l.Notice = max(at-span(notice), 1)
	}
}

// event is what has become of a lease, for its host.
func (l *lease) event() sdk.LeaseEvent {
	kinds := map[stage]sdk.LeaseEventKind{waiting: sdk.LeasePending, granted: sdk.LeaseGranted,
		ending: sdk.LeaseEnding, lost: sdk.LeaseLost, refused: sdk.LeaseRefused}
	e := sdk.LeaseEvent{Lease: l.Request.Lease, Kind: kinds[l.Stage], Why: l.Why}
	switch l.Stage {
	case granted:
		e.Bundles, e.Until = l.bundles(), at(l.Limit)
	case ending:
		e.Until = at(l.End)
	}
	return e
}

// grantedEvent returns the event of its grant, also if the lease is over.
func (l *lease) grantedEvent() sdk.LeaseEvent {
	return sdk.LeaseEvent{Lease: l.Request.Lease, Kind: sdk.LeaseGranted, Bundles: l.bundles(), Until: at(l.Limit)}
}

func (l *lease) bundles() []sdk.GrantedBundle {
	list := make([]sdk.GrantedBundle, len(l.Places))
	for i, p := range l.Places {
		list[i].Node = nodeName(p.Node)
		for _, gpu := range p.GPUs {
			list[i].Devices = append(list[i].Devices, fmt.Sprint(gpu))
		}
	}
	return list
}

func nodeName(node int) string { return fmt.Sprintf("fake-%d", node+1) }

// words is a request in a message: "cpu 2", "2 x (cpu 1, gpu 1)".
func words(r sdk.LeaseRequest) string {
	if len(r.Bundles) == 1 {
		return amountsText(r.Bundles[0])
	}
	return fmt.Sprintf("%d bundles (%s)", len(r.Bundles), r.Strategy)
}

func amountsText(amounts []sdk.Amount) string {
	if len(amounts) == 0 {
		return "it"
	}
	parts := make([]string, len(amounts))
	for i, a := range amounts {
		parts[i] = fmt.Sprintf("%s %.6g", a.Name, a.Value)
		if a.Name == "memory" {
			parts[i] = fmt.Sprintf("memory %.6gGiB", a.Value/gib)
		}
	}
	return strings.Join(parts, ", ")
}

// nodesText is "1 node with cpu 2" or "3 nodes with cpu 2 each".
func nodesText(o *options) string {
	if o.Nodes == 1 {
		return "1 node with " + amountsText(o.node())
	}
	return fmt.Sprintf("%d nodes with %s each", o.Nodes, amountsText(o.node()))
}
