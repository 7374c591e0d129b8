package inproc

import (
	"context"
	"io"
	"sync"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
)

// OpenExecutor implements plugin.ExecutorOpener.
func (p *inproc) OpenExecutor(ctx context.Context, x sdk.Execution, options []byte) (plugin.Executor, error) {
	if p.executor == nil {
		return nil, p.wrong(sdk.KindExecutor)
	}
	e := &executor{p: p}
	err := p.life.open(ctx, func() (err error) {
		e.impl, err = guard.OpenExecutor(*p.executor, x, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	e.close = sync.OnceValue(e.impl.Close)
	return e, nil
}

type executor struct {
	p    *inproc
	impl *guard.Executor
	// close closes impl, once.
	close func() error
}

func (e *executor) Traits() sdk.ExecutorTraits { return e.impl.Traits() }

func (e *executor) Allocate(ctx context.Context, leases []sdk.LeaseRequest) error {
	return e.call(ctx, "Allocate", func() error { return e.impl.Allocate(ctx, leases) })
}

func (e *executor) Adopt(ctx context.Context, leases []string) error {
	return e.call(ctx, "Adopt", func() error { return e.impl.Adopt(ctx, leases) })
}

func (e *executor) Release(ctx context.Context, leases []string) error {
	return e.call(ctx, "Release", func() error { return e.impl.Release(ctx, leases) })
}

func (e *executor) call(ctx context.Context, name string, f func() error) error {
	_, err := call(ctx, &e.p.life, name, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

func (e *executor) Capacity(ctx context.Context) ([]sdk.ClusterNode, error) {
	return call(ctx, &e.p.life, "Capacity", func() ([]sdk.ClusterNode, error) { return e.impl.Capacity(ctx) })
}

func (e *executor) Recv() ([]sdk.LeaseEvent, error) {
	events, err := e.impl.Recv(context.Background())
	if err != nil {
		return nil, io.EOF
	}
	return events, nil
}

// Close does not close an executor that hangs: its code may still be running.
func (e *executor) Close() error {
	e.impl.EndRecv()
	if !e.p.life.hangs() {
		if err := e.close(); err != nil {
			return err
		}
	}
	return e.p.Close()
}
