package exec

import (
	"time"

	"github.com/tunehost/tunehost/core"
)

// pendingEvery is how often the core is told why a lease is pending. The record keeps each reason, and
// engines may have a new reason ("position 1234 in the queue") many times a second.
const pendingEvery = 10 * time.Second

// pending stores the reason why a lease is pending.
type pending struct {
	why    string    // what the core was told
	at     time.Time // when it was told; zero: never
	newest string    // the executor's last reason
	later  bool      // the newest reason will be reported later
	own    bool      // it is about the executor, which has not answered, and not from it
}

// pending records why a lease is pending. The core receives the first reason at once, and the newest
// one after a while.
func (g *Granter) pending(id core.LeaseID, l *lease, why string) []core.Event {
	p := &l.pending
	p.newest = why
	if l.granted || p.later || p.newest == p.why {
		return nil
	}
	if p.at.IsZero() {
		return g.tellPending(id, l)
	}
	wait := pendingEvery - g.Clock.Since(p.at)
	if wait <= 0 {
		return g.tellPending(id, l)
	}
	p.later = true
	g.Clock.AfterFunc(wait, func() { g.tellLater(id, l) })
	return nil
}

// tellPending returns the event for the newest reason.
func (g *Granter) tellPending(id core.LeaseID, l *lease) []core.Event {
	p := &l.pending
	if p.newest == p.why {
		return nil
	}
	p.why, p.at = p.newest, g.Clock.Now()
	return []core.Event{&core.LeasePending{Lease: id, Why: p.why}}
}

// tellLater reports the newest reason after a while, unless the lease no longer waits.
func (g *Granter) tellLater(id core.LeaseID, l *lease) {
	g.mu.Lock()
	l.pending.later = false
	var events []core.Event
	if g.leases[id] == l && !l.granted && g.ctx.Err() == nil {
		events = g.tellPending(id, l)
	}
	g.mu.Unlock()
	g.Post(events...)
}
