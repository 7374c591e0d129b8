package exec

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// listen posts the plugin's events to the core; it returns nil after Close.
func (g *Granter) listen(p plugin.Executor) error {
	for {
		events, err := p.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var out []core.Event
		g.mu.Lock()
		for i := range events {
			out = append(out, g.eventsOf(&events[i])...)
		}
		g.mu.Unlock()
		g.Post(out...)
		g.nudge()
	}
}

// eventsOf converts an event for the core; it drops events of released leases
// and repeated events.
func (g *Granter) eventsOf(e *sdk.LeaseEvent) []core.Event {
	id, ok := g.id(e.Lease)
	if !ok {
		return nil
	}
	l := g.leases[id]
	why := untrusted.Ends(e.Why, maxText)
	switch {
	case l == nil:
		g.unknown(id, e.Kind, why)
		return nil
	case l.state == releasing:
		g.released(id, l, e.Kind, why)
		return nil
	}
	l.heard = true
	switch e.Kind {
	default:
		g.Log.Once("unknown lease event", g.Title+
			" has sent an event of a kind that this version does not know: such events are ignored")
	case sdk.LeasePending:
		l.pending.own, l.hopeless = false, !e.Until.IsZero()
		return g.pending(id, l, why)
	case sdk.LeaseGranted:
		return g.granted(id, l, e)
	case sdk.LeaseEnding:
		return g.ends(id, l, nanoseconds(e.Until), why)
	case sdk.LeaseRefused:
		g.drop(id)
		g.forget(id)
		return []core.Event{&core.LeaseRefused{Lease: id, Why: l.refusal(why)}}
	case sdk.LeaseLost:
		return g.lost(id, l, why)
	}
	return nil
}

// unknown processes an event of a lease that is not in use. g.mu is held.
func (g *Granter) unknown(id core.LeaseID, kind sdk.LeaseEventKind, why string) {
	if kind == sdk.LeaseLost && g.left[id] {
		delete(g.left, id)
		g.tellGone(id, nil, "was taken away", why)
	}
}

// released processes an event of a lease that is being released. g.mu is held.
func (g *Granter) released(id core.LeaseID, l *lease, kind sdk.LeaseEventKind, why string) {
	if l.awaited && kind == sdk.LeaseLost {
		g.tellEnd(id, l, why)
		g.drop(id)
		g.forget(id)
		g.progressed()
	}
}

// lost returns the event for a lease that was taken away. g.mu is held.
func (g *Granter) lost(id core.LeaseID, l *lease, why string) []core.Event {
	if l.state == asking && (l.again || !l.calling) {
		l.heard = false
		return nil // it was not requested before the plugin failed, and is requested again
	}
	g.tellEnd(id, l, why)
	never := (!l.granted || l.joining != nil) && !l.adopted && g.again(why)
	g.drop(id)
	l.stopJoining()
	g.forget(id)
	if l.again && !l.granted {
		// The event may be from before the second request.
		g.leases[id] = &lease{state: releasing, asked: true}
	}
	if never {
		return []core.Event{&core.LeaseRefused{Lease: id, Why: fmt.Sprintf("no trial could start since this host "+
			"began, and %d leases in a row ended in the same way: %s", hopelessInARow, why)}}
	}
	return []core.Event{&core.LeaseLost{Lease: id, Why: why}}
}

// refusal adds the request to the engine's words, if they do not have it: they often say only that something is wrong.
func (l *lease) refusal(why string) string {
	if l.adopted {
		return why // its request was an earlier host's
	}
	if request := l.request.String(); !strings.Contains(why, request) {
		return why + "; the request: " + request
	}
	return why
}

// ends returns the event for a lease that will be taken away. The first notice counts; it may come from an agent. The
// executor may give the reason later. g.mu is held.
func (g *Granter) ends(id core.LeaseID, l *lease, at int64, why string) []core.Event {
	explained := why != "" && why != noticed
	if l.ending && (l.explained || !explained) {
		return nil
	}
	l.ending, l.explained, l.endAt, l.endWhy = true, explained, at, why
	ending := &core.LeaseEnding{Lease: id, At: at, Why: why}
	if l.joining != nil {
		l.joining.later = append(l.joining.later, ending)
		return nil
	}
	g.tellGone(id, l, "is taken away", why)
	return []core.Event{ending}
}

func (g *Granter) granted(id core.LeaseID, l *lease, e *sdk.LeaseEvent) []core.Event {
	if l.granted {
		return nil
	}
	if wrong := l.misfit(e.Bundles); wrong != "" {
		why := fmt.Sprintf("%s has granted %s, which is a bug of it", g.Title, wrong)
		g.Log.Once("wrong grant", why+"; such leases are given back, and others are requested")
		g.countEarly(why)
		g.release(id)
		return []core.Event{&core.LeaseLost{Lease: id, Why: why}}
	}
	l.granted, l.state = true, held
	out := &core.LeaseGranted{Lease: id, Until: nanoseconds(e.Until)}
	for _, b := range e.Bundles {
		bundle := core.LeasedBundle{Node: untrusted.Line(b.Node, maxText)}
		l.nodes = append(l.nodes, bundle.Node)
		for _, d := range b.Devices {
			bundle.Devices = append(bundle.Devices, untrusted.Line(d, maxText))
		}
		out.Bundles = append(out.Bundles, bundle)
	}
	g.nodes.Store(g.name(id), l.nodes)
	if g.Agents != nil {
		return g.join(id, l, out, e.Bundles)
	}
	g.works()
	return []core.Event{out}
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
