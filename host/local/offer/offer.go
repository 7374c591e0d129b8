// Package offer determines what this machine offers an experiment, and claims it beside the other
// experiments on the machine.
package offer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/host/config/spec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/local/claims"
	"github.com/tunehost/tunehost/host/usererror"
)

// Options describe the experiment that asks.
type Options struct {
	Experiment *config.Experiment
	// Dir is the directory of the experiment; other hosts see it in the claim.
	Dir string
	// Resources replaces what is found on the machine (--resources).
	Resources string
	// Share uses what other experiments have claimed, too.
	Share bool
	// Unclaimed uses the machine without claiming anything.
	Unclaimed bool
	Log       *hostlog.Log
	Clock     clock.Clock
}

// Take examines the machine and claims what trials can use of it, until the entry is left. The entry
// is nil if nothing was claimed.
func Take(ctx context.Context, o Options) ([]resource.Node, *claims.Entry, error) {
	m, err := detect(ctx, o.Resources)
	if err != nil {
		return nil, nil, usererror.Wrap(err)
	}
	if m.warning != "" {
		o.Log.Warn(m.warning)
	}
	var entry *claims.Entry
	if !m.virtual && !o.Unclaimed {
		if m.list[0], entry, err = o.claim(ctx, m.list[0], m.cpus); err != nil {
			return nil, nil, err
		}
	}
	nodes, err := m.nodes()
	return nodes, entry, err
}

// Nodes returns the nodes of this machine, or those of override (--resources).
func Nodes(ctx context.Context, override string) ([]resource.Node, error) {
	m, err := detect(ctx, override)
	if err != nil {
		return nil, err
	}
	return m.nodes()
}

// machine is what trials can run on.
type machine struct {
	list    []local.Node
	virtual bool   // invented by the user
	cpus    string // of the real machine
	warning string
}

func detect(ctx context.Context, override string) (m machine, err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	found, warning := local.Detect(ctx)
	m = machine{list: []local.Node{found}, cpus: found.Amounts["cpu"], warning: warning}
	if override == "" {
		return m, nil
	}
	if virtual, err := local.Virtual(override); err == nil {
		m.list, m.virtual = virtual, true
		return m, nil
	}
	m.list[0], err = local.Override(found, override)
	return m, err
}

func (m *machine) nodes() (nodes []resource.Node, err error) {
	for i, n := range m.list {
		capacity, err := request.Bundle(n.Amounts)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, resource.Node{ID: uint32(i + 1), Name: n.Name, Capacity: capacity, Devices: n.IDs()})
	}
	return nodes, nil
}

// Shortfall says why no trial can ever run on nodes; short is nil if one can (B-035).
func Shortfall(e *config.Experiment, nodes []resource.Node) (short, err error) {
	request, err := spec.LeastRequest(e)
	if err != nil {
		return nil, usererror.Wrap(err)
	}
	ledger := resource.NewLedger()
	for _, n := range nodes {
		if err := ledger.AddNode(n); err != nil {
			return nil, usererror.Wrap(err)
		}
	}
	if ok, s := ledger.FitsEver(request); !ok {
		return s, nil
	}
	return nil, nil
}

// Waits says of a file that asks for more than there is that its trials wait.
func Waits(e *config.Experiment, short error) string {
	return posOfRequest(e).String() + ": no trial can start until more is available: " + short.Error()
}

// TooSmall returns the error for a file that asks for more than can ever be granted.
func TooSmall(e *config.Experiment, short error) error {
	return usererror.Errorf("%s: %w; ask for less, or let trials wait for more with wait_for_resources: true",
		posOfRequest(e), short)
}

// posOfRequest is the place where a file says what a trial needs.
func posOfRequest(e *config.Experiment) config.Pos {
	if e.Placement == nil {
		return e.PosOf("resources")
	}
	return e.PosOf("placement")
}

// Capacity returns what nodes have together; nil for none.
func Capacity(nodes []resource.Node) map[string]string {
	sums := map[string]resource.Amount{}
	for _, n := range nodes {
		for _, it := range n.Capacity.Items() {
			sums[it.Name] = sums[it.Name].Add(it.Amount)
		}
	}
	if len(sums) == 0 {
		return nil
	}
	texts := map[string]string{}
	for name, amount := range sums {
		texts[name] = amount.String()
	}
	return texts
}

// WarnOfIdleGPUs warns of GPUs that no trial asks for (B-040).
func WarnOfIdleGPUs(e *config.Experiment, nodes []resource.Node, log *hostlog.Log) {
	r, err := request.Of(e)
	gpus := func(a config.ComputedAmount) bool { return a.Name == resource.GPU }
	if err != nil || slices.ContainsFunc(e.Computed, gpus) {
		return
	}
	for _, b := range r.Bundles() {
		if !b.Get(resource.GPU).IsZero() {
			return
		}
	}
	for _, n := range nodes {
		if x := n.Capacity.Get(resource.GPU); !x.IsZero() {
			log.Once("gpus", fmt.Sprintf("this machine has %s GPUs and no trial asks for one: write resources: "+
				"{cpu: 1, gpu: 1} to use them", x))
			return
		}
	}
}
