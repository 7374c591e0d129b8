package inproc

import (
	"context"
	"sync"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
)

// OpenReporter implements plugin.ReporterOpener.
func (p *inproc) OpenReporter(ctx context.Context, e sdk.Experiment, options []byte) (plugin.Reporter, error) {
	if p.reporter == nil {
		return nil, p.wrong(sdk.KindReporter)
	}
	r := &reporter{p: p}
	err := p.life.open(ctx, func() (err error) {
		r.impl, err = guard.OpenReporter(*p.reporter, e, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.close = sync.OnceValue(r.impl.Close)
	return r, nil
}

type reporter struct {
	p    *inproc
	impl *guard.Reporter
	// close closes impl, once.
	close func() error
}

func (r *reporter) After() uint64 { return r.impl.After() }

func (r *reporter) Report(ctx context.Context, events []sdk.ReporterEvent) error {
	_, err := call(ctx, &r.p.life, "Report", func() (struct{}, error) {
		return struct{}{}, r.impl.Report(ctx, events)
	})
	return err
}

// Close does not close a reporter that hangs: its code may still be running.
func (r *reporter) Close() error {
	if !r.p.life.hangs() {
		if err := r.close(); err != nil {
			return err
		}
	}
	return r.p.Close()
}
