package exec

import (
	"fmt"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/deadlines"
)

// silentAfter is how long an executor may report nothing about a lease that it has accepted or adopted. Without
// this limit, trials would wait without any message if the executor's Watch hangs.
const silentAfter = time.Minute

// namedSilent is how many leases the warning names.
const namedSilent = 3

// watchSilence warns if the executor says nothing about leases that it holds. g.mu is held.
func (g *Granter) watchSilence(ids []core.LeaseID) {
	asked := map[core.LeaseID]*lease{}
	for _, id := range ids {
		if l := g.leases[id]; l.isSilent() {
			asked[id] = l
		}
	}
	if len(asked) > 0 {
		g.Clock.AfterFunc(silentAfter, func() { g.warnSilent(asked) })
	}
}

// isSilent reports whether the executor has said nothing about an accepted lease.
func (l *lease) isSilent() bool { return l != nil && l.state == held && !l.granted && !l.heard }

// warnSilent tells the user and the core that an executor has said nothing about leases.
func (g *Granter) warnSilent(asked map[core.LeaseID]*lease) {
	if g.ctx.Err() != nil {
		return
	}
	why := fmt.Sprintf("%s has reported nothing about it for %s", g.Title, deadlines.Text(silentAfter))
	var names []string
	var events []core.Event
	g.mu.Lock()
	for _, id := range g.leasesWhere((*lease).isSilent) {
		if l := g.leases[id]; asked[id] == l {
			names = append(names, g.name(id))
			events = append(events, g.pending(id, l, why)...)
		}
	}
	g.mu.Unlock()
	if len(names) == 0 {
		return
	}
	if more := len(names) - namedSilent; more > 0 {
		names = append(names[:namedSilent], fmt.Sprintf("%d more", more))
	}
	g.Log.Once("silent executor", fmt.Sprintf("%s has reported nothing for %s about leases that it has accepted: %s; "+
		"trials wait until it does", g.Title, deadlines.Text(silentAfter), strings.Join(names, ", ")))
	g.Post(events...)
}
