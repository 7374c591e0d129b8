package process

import (
	"context"
	"errors"
	"io"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// OpenExecutor implements plugin.ExecutorOpener.
func (p *Process) OpenExecutor(ctx context.Context, x sdk.Execution, options []byte) (plugin.Executor, error) {
	if err := p.openOnce(sdk.KindExecutor); err != nil {
		return nil, err
	}
	client := pb.NewExecutorServiceClient(p.conn)
	m, err := client.OpenExecutor(ctx, wire.ExecutionToProto(x, options))
	if err != nil {
		return nil, p.callFailure(ctx, "Open", err)
	}
	e := &executor{Process: p, client: client, traits: wire.ExecutorTraitsFromProto(m)}
	var streamCtx context.Context
	streamCtx, e.cancel = context.WithCancel(context.Background())
	if e.stream, err = client.Watch(streamCtx, &pb.WatchRequest{}); err != nil {
		e.cancel()
		return nil, p.callFailure(ctx, "Watch", err)
	}
	return e, nil
}

// maxLeases is how many leases go into one call: each has a few hundred bytes, or many bundles.
const maxLeases = 256

type executor struct {
	*Process
	client pb.ExecutorServiceClient
	traits sdk.ExecutorTraits
	stream pb.ExecutorService_WatchClient
	cancel context.CancelFunc
}

// Traits implements plugin.Executor.
func (e *executor) Traits() sdk.ExecutorTraits { return e.traits }

// Allocate implements sdk.Executor.
func (e *executor) Allocate(ctx context.Context, leases []sdk.LeaseRequest) error {
	for list := wire.LeaseRequestsToProto(leases); len(list) > 0; {
		n := min(len(list), maxLeases)
		if _, err := e.client.Allocate(ctx, &pb.AllocateRequest{Leases: list[:n]}); err != nil {
			return e.callFailure(ctx, "Allocate", err)
		}
		list = list[n:]
	}
	return nil
}

// Adopt implements sdk.Executor. It is one call, since leases that it does not list are released.
func (e *executor) Adopt(ctx context.Context, leases []string) error {
	if _, err := e.client.Adopt(ctx, &pb.AdoptRequest{Leases: leases}); err != nil {
		return e.callFailure(ctx, "Adopt", err)
	}
	return nil
}

// Release implements sdk.Executor.
func (e *executor) Release(ctx context.Context, leases []string) error {
	if _, err := e.client.Release(ctx, &pb.ReleaseRequest{Leases: leases}); err != nil {
		return e.callFailure(ctx, "Release", err)
	}
	return nil
}

// Capacity implements plugin.Executor.
func (e *executor) Capacity(ctx context.Context) ([]sdk.ClusterNode, error) {
	m, err := e.client.Capacity(ctx, &pb.CapacityRequest{})
	if err != nil {
		return nil, e.callFailure(ctx, "Capacity", err)
	}
	return wire.ClusterFromProto(m), nil
}

// Recv implements plugin.Executor.
func (e *executor) Recv() ([]sdk.LeaseEvent, error) {
	for {
		m, err := e.stream.Recv()
		if err != nil {
			return nil, e.broken(err)
		}
		if events := wire.LeaseEventsFromProto(m); len(events) > 0 {
			return events, nil
		}
	}
}

// broken returns why the stream ended.
func (e *executor) broken(err error) error {
	switch {
	case e.ending.Load():
		return io.EOF
	case errors.Is(err, io.EOF):
		return e.garbage("Watch", errors.New("it ended the stream"))
	}
	return e.callFailure(context.Background(), "Watch", err)
}

// Close implements plugin.Executor.
func (e *executor) Close() error {
	err := e.Process.Close()
	e.cancel()
	return err
}
