package exec

import (
	"context"
	"strconv"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func (g *Granter) releaseAll(p plugin.Executor) error {
	g.mu.Lock()
	ids := g.leasesWhere(func(l *lease) bool { return l.mustRelease() && !l.awaited })
	g.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = g.name(id)
	}
	if err := g.call("Release", func(ctx context.Context) error { return p.Release(ctx, names) }); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range ids {
		g.drop(id)
		g.forget(id)
	}
	g.progressed()
	return nil
}

func (g *Granter) allocateAll(p plugin.Executor) error {
	g.mu.Lock()
	ids := g.leasesWhere(func(l *lease) bool { return l.state == asking })
	requests := make([]sdk.LeaseRequest, len(ids))
	for i, id := range ids {
		l := g.leases[id]
		l.again, l.asked, l.calling = l.asked, true, true
		requests[i] = requestOf(g.name(id), l.request)
	}
	g.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	err := g.call("Allocate", func(ctx context.Context) error {
		if err := g.expect(requests); err != nil {
			return err
		}
		return p.Allocate(ctx, requests)
	})
	g.requested(ids)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range ids {
		if l := g.leases[id]; l != nil && l.state == asking {
			l.state = held
		}
	}
	g.watchSilence(ids)
	return nil
}

// requested records that the call that requests leases has ended.
func (g *Granter) requested(ids []core.LeaseID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range ids {
		if l := g.leases[id]; l != nil {
			l.calling = false
		}
	}
}

// requestOf converts a request for plugins.
func requestOf(name string, r resource.Request) sdk.LeaseRequest {
	out := sdk.LeaseRequest{Lease: name, Strategy: r.Strategy().String()}
	for _, b := range r.Bundles() {
		var bundle sdk.LeaseBundle
		for _, it := range b.Items() {
			bundle = append(bundle, sdk.Amount{Name: it.Name, Value: number(it.Amount)})
		}
		out.Bundles = append(out.Bundles, bundle)
	}
	return out
}

func number(a resource.Amount) float64 {
	x, _ := strconv.ParseFloat(a.String(), 64) // an amount is a decimal number
	return x
}

func (l *lease) mustRelease() bool { return l.state == releasing }
