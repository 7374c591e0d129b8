package service

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// A Scheduler answers the calls of SchedulerService.
type Scheduler struct {
	plugin sdk.SchedulerPlugin
	opened opened[guard.Scheduler]
}

// NewScheduler returns a scheduler that is not open yet.
func NewScheduler(p sdk.SchedulerPlugin) *Scheduler { return &Scheduler{plugin: p} }

// DescribeScheduler returns the description.
func (s *Scheduler) DescribeScheduler(context.Context, *pb.DescribeSchedulerRequest) (*pb.DescribeSchedulerResponse,
	error) {
	return &pb.DescribeSchedulerResponse{Info: wire.InfoToProto(guard.Describe(s.plugin.Info, sdk.KindScheduler))}, nil
}

// OpenScheduler opens the scheduler.
func (s *Scheduler) OpenScheduler(_ context.Context, m *pb.OpenSchedulerRequest) (*pb.OpenSchedulerResponse, error) {
	problem, err := wire.ProblemFromProto(m.GetProblem())
	if err != nil {
		return nil, failure(InvalidArgument, err)
	}
	opened, err := guard.OpenScheduler(s.plugin, problem, m.GetOptions(), m.GetSnapshot())
	if err != nil {
		return nil, failure(InvalidArgument, err)
	}
	s.opened.Store(opened)
	return &pb.OpenSchedulerResponse{Traits: wire.TraitsToProto(opened.Traits(), opened.Snapshots())}, nil
}

// Decide delivers events and returns decisions and commands.
func (s *Scheduler) Decide(ctx context.Context, m *pb.DecideRequest) (*pb.DecideResponse, error) {
	opened, err := s.opened.get()
	if err != nil {
		return nil, err
	}
	answer, err := opened.Decide(ctx, wire.EventsFromProto(m.GetEvents()))
	if err != nil {
		return nil, failure(Aborted, err)
	}
	return wire.DecisionsToProto(answer), nil
}

// SnapshotScheduler returns the state.
func (s *Scheduler) SnapshotScheduler(context.Context, *pb.SnapshotSchedulerRequest) (*pb.SnapshotSchedulerResponse,
	error) {
	opened, err := s.opened.get()
	if err != nil {
		return nil, err
	}
	state, err := opened.Snapshot()
	if err != nil {
		return nil, failure(Aborted, err)
	}
	return &pb.SnapshotSchedulerResponse{Snapshot: state}, nil
}
