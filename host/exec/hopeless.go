package exec

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
)

// endIfHopeless ends the experiment like an interrupt when nothing runs and the executor grants nothing more, for
// example in an allocation that ends soon. Otherwise the host would keep the allocation without need, and be killed
// at its end.
func (g *Granter) endIfHopeless() {
	if g.ended {
		return
	}
	why, ok := g.hopeless()
	if !ok {
		return
	}
	g.ended = true
	g.Log.Warn(fmt.Sprintf("%s grants no more leases (%s): nothing runs, and the host ends", g.Title, why))
	g.Post(&core.Interrupted{})
}

// hopeless reports whether leases wait in vain, and no other lease is held; why is the executor's reason.
func (g *Granter) hopeless() (why string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.leases {
		switch {
		case l.state == releasing:
		case !l.hopeless || l.granted:
			return "", false
		default:
			why, ok = l.pending.newest, true
		}
	}
	return why, ok
}
