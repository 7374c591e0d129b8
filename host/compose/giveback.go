package compose

import (
	"context"
	"errors"

	"github.com/tunehost/tunehost/host/compose/leasing"
	"github.com/tunehost/tunehost/host/compose/pluginset"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/prepare"
)

// GiveBack has the executor of an experiment that no host runs give back all its leases. Nothing is recorded, and no
// other plugin is opened. It reports whether all are given back.
func GiveBack(ctx context.Context, p *prepare.Plan, o options.Options) (all bool, err error) {
	b, err := setup.Take(ctx, p, o, nil)
	if err != nil {
		return false, err
	}
	plugins := pluginset.New(b)
	l := leasing.New(b, plugins.Opener)
	defer func() {
		l.Close()
		err = errors.Join(err, b.Close())
	}()
	if b.Home.Copy() {
		return true, nil // they are the original's
	}
	if err := plugins.Find(); err != nil {
		return false, err
	}
	return l.GiveBack()
}
