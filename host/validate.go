package host

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/config"
)

// Validate checks an experiment file as far as that is possible without running
// anything: the file, the plugins that it names and their options, and whether a
// trial fits the machine. Warnings go to Options.Stderr.
func Validate(_ context.Context, o Options) error {
	e, err := load(o)
	if err != nil {
		return err
	}
	for _, w := range e.Warnings {
		if _, err := fmt.Fprintln(o.Stderr, w.Error()); err != nil {
			return err
		}
	}
	nodes, _, err := machineNodes(o.Resources)
	if err != nil {
		return &UserError{err}
	}
	short, err := shortfall(e, nodes)
	if err != nil {
		return err
	}
	if short != nil && !e.WaitForResources {
		return &UserError{short}
	}
	return nil
}

// shortfall says why no trial can ever run on these nodes; nil when one can
// (B-035).
func shortfall(e *config.Experiment, nodes []resource.Node) (short, err error) {
	request, err := requestOf(e)
	if err != nil {
		return nil, &UserError{err}
	}
	ledger := resource.NewLedger()
	for _, n := range nodes {
		if err := ledger.AddNode(n); err != nil {
			return nil, &UserError{err}
		}
	}
	if ok, s := ledger.FitsEver(request); !ok {
		return s, nil
	}
	return nil, nil
}

// joined are the events of nodes that join.
func joined(nodes []resource.Node) []core.Event {
	events := make([]core.Event, len(nodes))
	for i, n := range nodes {
		events[i] = &core.NodeJoined{Node: n, More: i < len(nodes)-1}
	}
	return events
}
