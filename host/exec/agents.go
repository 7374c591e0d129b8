package exec

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Agents are the agents that an executor starts on leases. Leases have the names that the executor
// knows them by.
type Agents interface {
	// Expect returns what the agents of a lease get at their start. It returns the same each time for the same
	// lease.
	Expect(lease string, bundles int) (string, error)
	// Wait waits until the agent of a bundle is connected.
	Wait(ctx context.Context, lease string, bundle int) error
	// Forget ends everything that belongs to the agents of a lease. The lease is over.
	Forget(lease string)
	// Retain keeps these leases, which an earlier host has left, and forgets all others.
	Retain(leases []string)
	// Bundles says how many agents of a lease are connected.
	Bundles(lease string) (connected, of int)
	// Rejoins reports whether all agents of a lease were connected to an earlier host.
	Rejoins(lease string) bool
	// Addresses are where agents reach the host.
	Addresses() []string
	// Crowded says that connections of others keep the addresses busy, and how many there are; "": they do not.
	Crowded() string
}

// connectTime is how long the agents of a granted lease may take to connect. An engine may first copy
// files or start a container.
const connectTime = 5 * time.Minute

// rejoinTime is how long the agents of an earlier host may take to connect to this one. They try again every few
// seconds.
const rejoinTime = 15 * time.Second

// joining is a granted lease of which some agents are not connected yet.
type joining struct {
	stop  context.CancelFunc
	limit time.Duration
	later []core.Event // what the core is told then
	why   string       // what the core was told of those that it waits for
}

// joinNotice is after how long the core is told that a lease waits for its agents.
const joinNotice = 10 * time.Second

// join tells the core of a grant once the agents are connected.
func (g *Granter) join(id core.LeaseID, l *lease, granted core.Event, bundles []sdk.GrantedBundle) []core.Event {
	l.addresses = make([]string, len(bundles))
	for i, b := range bundles {
		l.addresses[i] = untrusted.Line(cmp.Or(b.Address, b.Node), maxText)
	}
	ctx, stop := context.WithCancel(g.ctx)
	l.joining = &joining{stop: stop, limit: connectTime, later: []core.Event{granted}}
	if l.adopted && g.Agents.Rejoins(g.name(id)) {
		l.joining.limit = rejoinTime
	}
	g.Clock.AfterFunc(joinNotice, func() { g.tellJoining(id, l) })
	late := g.Clock.AfterFunc(l.joining.limit, stop)
	go func() {
		defer stop()
		defer late()
		g.await(ctx, id, l, len(bundles))
	}()
	return nil
}

// tellJoining tells the core how many agents are connected, from time to time while some are missing.
func (g *Granter) tellJoining(id core.LeaseID, l *lease) {
	g.mu.Lock()
	var events []core.Event
	if g.leases[id] == l && l.joining != nil && g.ctx.Err() == nil {
		if why := g.connected(id, l); why != l.joining.why {
			l.joining.why = why
			events = append(events, &core.LeasePending{Lease: id,
				Why: l.joiningOn() + "; waiting for the agents: " + why})
		}
		g.Clock.AfterFunc(pendingEvery, func() { g.tellJoining(id, l) })
	}
	g.mu.Unlock()
	g.Post(events...)
}

// joiningOn says which nodes are granted.
func (l *lease) joiningOn() string {
	switch nodes := l.places(); len(nodes) {
	case 0:
		return "the nodes are granted"
	case 1:
		return nodesOf(nodes) + " is granted"
	default:
		return nodesOf(nodes) + " are granted"
	}
}

func (g *Granter) connected(id core.LeaseID, l *lease) string {
	n, _ := g.Agents.Bundles(g.name(id))
	return g.amongOthers(fmt.Sprintf("%d of %d connected", n, len(l.addresses)))
}

// amongOthers adds to a reason that others keep the host's addresses busy, if they do.
func (g *Granter) amongOthers(why string) string {
	if g.Agents == nil {
		return why
	}
	if crowded := g.Agents.Crowded(); crowded != "" {
		return why + "; " + crowded
	}
	return why
}

func (l *lease) stopJoining() {
	if l.joining != nil {
		l.joining.stop()
	}
}

// expect adds to requests what agents are started with.
func (g *Granter) expect(requests []sdk.LeaseRequest) (err error) {
	if g.Agents == nil {
		return nil
	}
	for i := range requests {
		r := &requests[i]
		if r.Agent, err = g.Agents.Expect(r.Lease, len(r.Bundles)); err != nil {
			return &plugin.Error{Plugin: g.Title, Failure: plugin.Failed, Err: err,
				What: "cannot be given leases: no agents can be expected: " + err.Error()}
		}
	}
	return nil
}

// await waits for the agents of a lease, and for those of an earlier host.
func (g *Granter) await(ctx context.Context, id core.LeaseID, l *lease, bundles int) {
	_, expected := g.Agents.Bundles(g.name(id))
	unknown := l.adopted && expected == 0
	var err error
	missing := ""
	for i := 0; i < bundles && err == nil; i++ {
		if err = g.Agents.Wait(ctx, g.name(id), i); err == nil {
			continue
		}
		if node, _ := g.NodeOf(g.name(id), i); node != "" {
			missing = fmt.Sprintf("; that on the node %s is missing", node)
		}
	}
	if err == nil {
		g.back(id)
		err = g.awaitReturn(ctx)
	}
	g.mu.Lock()
	var events []core.Event
	switch {
	case g.leases[id] != l || g.ctx.Err() != nil:
	case err == nil:
		events, l.joining = l.joining.later, nil
		g.works()
	case l.joining.limit == rejoinTime:
		why := fmt.Sprintf("its agents were connected to the earlier host, and did not come back within %v: %s",
			rejoinTime, g.connected(id, l))
		g.tellEnd(id, l, why)
		events = g.lose(id, why)
	case ctx.Err() == nil && !unknown: // they are lost, and LoseAgents is called with the reason
	case ctx.Err() == nil:
		why := "its agents are those of an earlier host, whose folder of this experiment is not here: they wait for " +
			"that host, and cannot come to this one"
		g.tellEnd(id, l, why)
		events = g.lose(id, why)
	default:
		why := fmt.Sprintf("its agents did not connect within %v: %s", connectTime, g.connected(id, l)) + missing
		g.Log.Warn(fmt.Sprintf("lease %s of %s is given back: %s; %s", g.name(id), g.Title, why, g.checkAgents()))
		g.countEarly(why)
		events = g.lose(id, why)
	}
	g.mu.Unlock()
	g.Post(events...)
	g.nudge()
}

// noticed is the reason of an end that an agent has learned from a signal: an engine signals its jobs without
// saying why. It may do so when it preempts or drains, at the end of the wall time, or because somebody cancels the
// job.
const noticed = "the engine has signalled the job's processes to end, as when it is cancelled or preempted, or near " +
	"its time limit"

// checkAgents says what to do about agents that do not connect.
func (g *Granter) checkAgents() string {
	if g.Agents.Crowded() != "" {
		return "find out who opens these connections, and end that"
	}
	return fmt.Sprintf("check on the nodes that one of %s can be reached (host_address and host_port of the "+
		"executor), and what the agents have printed in the output of the job",
		strings.Join(g.Agents.Addresses(), ", "))
}

// EndAgents says that an agent of a lease has notice of its end from its engine.
func (g *Granter) EndAgents(lease string) {
	id, ok := g.id(lease)
	g.mu.Lock()
	var events []core.Event
	if l := g.leases[id]; ok && l != nil && l.state == held && l.granted {
		events = g.ends(id, l, 0, noticed)
	}
	g.mu.Unlock()
	g.Post(events...)
}

// engineWord is how long the host waits for the executor's reason when agents are lost. The executor then looks at
// its engine each second, and the engine's reason says more than that agents are gone.
const engineWord = 2 * time.Second

// LoseAgents says that the agents of a lease cannot be reached any more, and why. The lease is given back at once,
// or after a short time in which the executor may say why the lease has ended.
func (g *Granter) LoseAgents(lease, why string) {
	id, ok := g.id(lease)
	why = g.amongOthers(why)
	g.mu.Lock()
	l := g.leases[id]
	if !ok || l == nil || l.awaited || l.state == releasing {
		g.mu.Unlock()
		return
	}
	l.awaited = l.endsBy(g.Clock.Now())
	awaited := l.awaited
	g.mu.Unlock()
	if awaited {
		g.Clock.AfterFunc(engineWord, func() { g.loseAgents(id, l, why) })
		return
	}
	g.loseAgents(id, l, why)
}

// loseAgents gives a lease back, unless it is over. The core may have done so meanwhile.
func (g *Granter) loseAgents(id core.LeaseID, l *lease, why string) {
	g.mu.Lock()
	var events []core.Event
	if g.leases[id] == l {
		why += l.endedOn(g.Clock.Now())
		g.tellEnd(id, l, untrusted.Ends(why, maxText))
		if l.awaited = false; l.state != releasing {
			events = g.lose(id, why)
		}
	}
	g.mu.Unlock()
	g.Post(events...)
	g.nudge()
}

// endsBy reports whether the engine may have ended the lease by now.
func (l *lease) endsBy(now time.Time) bool { return l.ending && now.UnixNano() >= l.endAt }

// endedOn says why the agents of a lease are lost whose time is over: its engine kills them then, and may report
// that after the host has missed them.
func (l *lease) endedOn(now time.Time) string {
	if l.endAt == 0 || now.UnixNano() < l.endAt {
		return ""
	}
	if l.endWhy == "" {
		return " at the end of the lease"
	}
	return fmt.Sprintf(" at the end of the lease (%s)", l.endWhy)
}

// GiveUp gives a lease back on which a trial could not start, and says why. The trial continues elsewhere.
func (g *Granter) GiveUp(id core.LeaseID, why string) {
	g.mu.Lock()
	var events []core.Event
	if l := g.leases[id]; l != nil && l.state == held {
		g.tellGone(id, l, "is given back", untrusted.Ends(why, maxText))
		events = g.lose(id, why)
	}
	g.mu.Unlock()
	g.Post(events...)
	g.nudge()
}

// lose gives a lease back that cannot be used. g.mu is held.
func (g *Granter) lose(id core.LeaseID, why string) []core.Event {
	g.release(id)
	return []core.Event{&core.LeaseLost{Lease: id, Why: untrusted.Ends(why, maxText)}}
}

// forget ends what there is of the agents of a lease. g.mu may be held.
func (g *Granter) forget(id core.LeaseID) {
	if g.Agents != nil {
		g.Agents.Forget(g.name(id))
	}
	g.nodes.Delete(g.name(id))
}

// NodeOf returns the node of a bundle of a granted lease, and the number of its bundles; "": it is not known. It may be
// called at any time: an agent may be lost in the middle of a call of the executor.
func (g *Granter) NodeOf(lease string, bundle int) (node string, of int) {
	all, _ := g.nodes.Load(lease)
	nodes, _ := all.([]string)
	if bundle < 0 || bundle >= len(nodes) {
		return "", len(nodes)
	}
	return nodes[bundle], len(nodes)
}

// Lease returns the name of a lease for the executor and its agents.
func (g *Granter) Lease(id core.LeaseID) string { return g.name(id) }

// LeaseOf returns the lease that the executor and its agents know by a name; false: there can be none.
func (g *Granter) LeaseOf(name string) (core.LeaseID, bool) { return g.id(name) }

// Addresses returns by what the nodes of a lease's bundles reach each other; nil where trials run on
// the host's machine.
func (g *Granter) Addresses(id core.LeaseID) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.leases[id]; l != nil {
		return l.addresses
	}
	return nil
}
