package service

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// Executor answers the unary calls of ExecutorService; package serve carries Watch.
type Executor struct {
	plugin sdk.ExecutorPlugin
	opened opened[guard.Executor]
}

// NewExecutor returns an executor that is not open yet.
func NewExecutor(p sdk.ExecutorPlugin) *Executor { return &Executor{plugin: p} }

// DescribeExecutor returns the description.
func (s *Executor) DescribeExecutor(context.Context, *pb.DescribeExecutorRequest) (*pb.DescribeExecutorResponse,
	error) {
	return &pb.DescribeExecutorResponse{Info: wire.InfoToProto(guard.Describe(s.plugin.Info, sdk.KindExecutor))}, nil
}

// OpenExecutor opens the executor.
func (s *Executor) OpenExecutor(_ context.Context, m *pb.OpenExecutorRequest) (*pb.OpenExecutorResponse, error) {
	opened, err := guard.OpenExecutor(s.plugin, wire.ExecutionFromProto(m), m.GetOptions())
	if err != nil {
		return nil, failure(InvalidArgument, err)
	}
	s.opened.Store(opened)
	return wire.ExecutorTraitsToProto(opened.Traits()), nil
}

// Opened returns the executor, or an error if it is not open.
func (s *Executor) Opened() (*guard.Executor, error) { return s.opened.get() }

// Allocate requests leases.
func (s *Executor) Allocate(ctx context.Context, m *pb.AllocateRequest) (*pb.AllocateResponse, error) {
	err := s.call(func(e *guard.Executor) error { return e.Allocate(ctx, wire.LeaseRequestsFromProto(m.GetLeases())) })
	return &pb.AllocateResponse{}, err
}

// Adopt continues with the leases of an earlier host.
func (s *Executor) Adopt(ctx context.Context, m *pb.AdoptRequest) (*pb.AdoptResponse, error) {
	return &pb.AdoptResponse{}, s.call(func(e *guard.Executor) error { return e.Adopt(ctx, m.GetLeases()) })
}

// Release gives leases back.
func (s *Executor) Release(ctx context.Context, m *pb.ReleaseRequest) (*pb.ReleaseResponse, error) {
	return &pb.ReleaseResponse{}, s.call(func(e *guard.Executor) error { return e.Release(ctx, m.GetLeases()) })
}

// Capacity returns the nodes of the cluster.
func (s *Executor) Capacity(ctx context.Context, _ *pb.CapacityRequest) (*pb.CapacityResponse, error) {
	var nodes []sdk.ClusterNode
	err := s.call(func(e *guard.Executor) (err error) {
		nodes, err = e.Capacity(ctx)
		return err
	})
	return wire.ClusterToProto(nodes), err
}

func (s *Executor) call(f func(*guard.Executor) error) error {
	opened, err := s.opened.get()
	if err != nil {
		return err
	}
	if err := f(opened); err != nil {
		return failure(Aborted, err)
	}
	return nil
}

// Close closes the executor, if it was opened.
func (s *Executor) Close() error {
	opened := s.opened.Load()
	if opened == nil {
		return nil
	}
	return opened.Close()
}
