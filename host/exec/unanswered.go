package exec

import (
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/untrusted"
)

// slowCall is how long a call of the executor may take until the user is told: commands of an engine that does not
// answer try for long themselves before they fail.
const slowCall = 5 * time.Second

// watchCall tells the user if a call has not ended after a while; the caller calls the function that it returns when
// the call has ended.
func (g *Granter) watchCall() (ended func()) {
	g.called = g.Clock.Now()
	stop := g.Clock.AfterFunc(slowCall, func() {
		if g.ctx.Err() != nil {
			return
		}
		why := fmt.Sprintf("%s has not answered for %s", g.Title, deadlines.Text(slowCall))
		what := g.awaits()
		g.Log.Once("slow executor: "+what, why+"; "+what+" until it does; later times are only in host.log")
		g.Log.Info(why)
		g.tellWaiting(why)
	})
	return func() { stop() }
}

// awaits says what waits for the executor. Where an experiment ends, no trial does.
func (g *Granter) awaits() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.leasesWhere(func(l *lease) bool { return l.state != releasing && !l.granted })) > 0 {
		return "trials wait"
	}
	return "leases are not given back"
}

// tellUnanswered reports why leases wait for an executor that has failed.
func (g *Granter) tellUnanswered(err error) {
	if g.ctx.Err() == nil {
		g.tellWaiting(untrusted.Ends(err.Error(), maxText))
	}
}

// tellWaiting reports the leases that are not granted as waiting for the executor.
func (g *Granter) tellWaiting(why string) {
	var events []core.Event
	g.mu.Lock()
	for _, id := range g.leasesWhere(func(l *lease) bool { return l.state != releasing && !l.granted }) {
		l := g.leases[id]
		l.pending.own = true
		events = append(events, g.pending(id, l, why)...)
	}
	g.mu.Unlock()
	g.Post(events...)
}

// answered takes back what tellWaiting has reported, of leases about which the executor has reported nothing since.
func (g *Granter) answered() {
	var events []core.Event
	g.mu.Lock()
	for _, id := range g.leasesWhere(func(l *lease) bool { return l.pending.own }) {
		l := g.leases[id]
		l.pending.own = false
		events = append(events, g.pending(id, l, "")...)
	}
	g.mu.Unlock()
	g.Post(events...)
}
