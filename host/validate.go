package host

import (
	"context"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Validate checks an experiment file as far as that is possible without running
// anything: the file, bundled plugins and their options, and whether a trial
// fits the machine. Warnings go to Options.Stderr.
func Validate(_ context.Context, o Options) error {
	e, err := load(o)
	if err != nil {
		return err
	}
	for _, w := range e.Warnings {
		if _, err := o.Stderr.Write([]byte(w.Error() + "\n")); err != nil {
			return err
		}
	}
	if err := knownPlugins(o, e); err != nil {
		return &UserError{err}
	}
	return fits(o, e)
}

func knownPlugins(o Options, e *config.Experiment) error {
	if err := Known(o.Plugins, sdk.KindSearcher, e.Searcher); err != nil {
		return err
	}
	if err := Known(o.Plugins, sdk.KindScheduler, e.Scheduler); err != nil {
		return err
	}
	if e.Trainable == nil || e.Trainable.Plugin == nil {
		return nil
	}
	return Known(o.Plugins, sdk.KindTrainable, *e.Trainable.Plugin)
}

// fits says whether this machine can run a trial (B-035).
func fits(o Options, e *config.Experiment) error {
	request, err := requestOf(e)
	if err != nil {
		return &UserError{err}
	}
	nodes, _, err := machineNodes(o.Resources)
	if err != nil {
		return &UserError{err}
	}
	ledger := resource.NewLedger()
	for _, n := range nodes {
		if err := ledger.AddNode(n); err != nil {
			return &UserError{err}
		}
	}
	if ok, short := ledger.FitsEver(request); !ok && !e.WaitForResources {
		return &UserError{short}
	}
	return nil
}
