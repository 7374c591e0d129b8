package exec

import (
	"context"
	"time"

	"github.com/tunehost/tunehost/core"
)

// returnTime is how long processes that an earlier host has started may go on. Agents take that host for silent
// after five seconds, and then kill its processes.
const returnTime = 8 * time.Second

// returning are the leases of an earlier host whose agents are not back. Until they are back, they may still run
// trials that the earlier host has started. So no trial starts anywhere: it may be one that still runs there.
type returning struct {
	missing map[core.LeaseID]bool
	none    chan struct{} // closed when nothing of the earlier host runs any more
}

// expectBack waits for the agents of leases that an earlier host has left. g.mu is held.
func (g *Granter) expectBack(ids []core.LeaseID) {
	for _, id := range ids {
		if g.Agents != nil && g.Agents.Rejoins(g.name(id)) {
			g.returning.missing[id] = true
		}
	}
	if len(g.returning.missing) > 0 {
		g.returning.none = make(chan struct{})
		g.Clock.AfterFunc(returnTime, func() { g.back(ids...) })
	}
}

// back says that nothing of an earlier host runs on leases.
func (g *Granter) back(ids ...core.LeaseID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range ids {
		g.over(id)
	}
}

// over is back for one lease. g.mu is held.
func (g *Granter) over(id core.LeaseID) {
	r := &g.returning
	if r.missing[id] {
		if delete(r.missing, id); len(r.missing) == 0 {
			close(r.none)
		}
	}
}

// awaitReturn waits until nothing of an earlier host runs any more.
func (g *Granter) awaitReturn(ctx context.Context) error {
	g.mu.Lock()
	none := g.returning.none
	g.mu.Unlock()
	if none == nil {
		return nil
	}
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drop forgets a lease, which is over.
func (g *Granter) drop(id core.LeaseID) {
	delete(g.leases, id)
	g.over(id)
}
