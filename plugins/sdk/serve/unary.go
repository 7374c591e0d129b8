package serve

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// failure is an author's error for the wire: the stack of a panic goes to the
// log, and the code tells the host whether somebody must change something
// (InvalidArgument, from Open) or the plugin is broken.
func failure(log hclog.Logger, code codes.Code, err error) error {
	if p, ok := errors.AsType[*guard.PanicError](err); ok {
		log.Error(p.Error(), "stack", string(p.Stack))
		code = codes.Internal
	}
	return status.Error(code, err.Error())
}

var errNotOpen = status.Error(codes.FailedPrecondition, "the plugin was not opened")

type searcherServer struct {
	pb.UnimplementedSearcherServiceServer
	plugin sdk.SearcherPlugin
	log    hclog.Logger

	mu     sync.Mutex
	opened *guard.Searcher
}

func (s *searcherServer) DescribeSearcher(context.Context, *pb.DescribeSearcherRequest) (*pb.DescribeSearcherResponse, error) {
	return &pb.DescribeSearcherResponse{Info: wire.InfoToProto(guard.Describe(s.plugin.Info, sdk.KindSearcher))}, nil
}

func (s *searcherServer) OpenSearcher(_ context.Context, m *pb.OpenSearcherRequest) (*pb.OpenSearcherResponse, error) {
	problem, err := wire.ProblemFromProto(m.GetProblem())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	opened, err := guard.OpenSearcher(s.plugin, problem, m.GetOptions(), m.GetSnapshot())
	if err != nil {
		return nil, failure(s.log, codes.InvalidArgument, err)
	}
	s.mu.Lock()
	s.opened = opened
	s.mu.Unlock()
	return &pb.OpenSearcherResponse{Traits: wire.TraitsToProto(opened.Traits(), opened.Snapshots())}, nil
}

func (s *searcherServer) current() (*guard.Searcher, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		return nil, errNotOpen
	}
	return s.opened, nil
}

func (s *searcherServer) Suggest(ctx context.Context, m *pb.SuggestRequest) (*pb.SuggestResponse, error) {
	opened, err := s.current()
	if err != nil {
		return nil, err
	}
	if events := wire.EventsFromProto(m.GetEvents()); len(events) > 0 {
		if err := opened.Observe(ctx, events); err != nil {
			return nil, failure(s.log, codes.Aborted, err)
		}
	}
	if len(m.GetRequests()) == 0 {
		return &pb.SuggestResponse{}, nil
	}
	answer, err := opened.Suggest(ctx, wire.RequestsFromProto(m.GetRequests()))
	if err != nil {
		return nil, failure(s.log, codes.Aborted, err)
	}
	return wire.SuggestionsToProto(answer), nil
}

func (s *searcherServer) SnapshotSearcher(context.Context, *pb.SnapshotSearcherRequest) (*pb.SnapshotSearcherResponse, error) {
	opened, err := s.current()
	if err != nil {
		return nil, err
	}
	state, err := opened.Snapshot()
	if err != nil {
		return nil, failure(s.log, codes.Aborted, err)
	}
	return &pb.SnapshotSearcherResponse{Snapshot: state}, nil
}

type schedulerServer struct {
	pb.UnimplementedSchedulerServiceServer
	plugin sdk.SchedulerPlugin
	log    hclog.Logger

	mu     sync.Mutex
	opened *guard.Scheduler
}

func (s *schedulerServer) DescribeScheduler(context.Context, *pb.DescribeSchedulerRequest) (*pb.DescribeSchedulerResponse, error) {
	return &pb.DescribeSchedulerResponse{Info: wire.InfoToProto(guard.Describe(s.plugin.Info, sdk.KindScheduler))}, nil
}

func (s *schedulerServer) OpenScheduler(_ context.Context, m *pb.OpenSchedulerRequest) (*pb.OpenSchedulerResponse, error) {
	problem, err := wire.ProblemFromProto(m.GetProblem())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	opened, err := guard.OpenScheduler(s.plugin, problem, m.GetOptions(), m.GetSnapshot())
	if err != nil {
		return nil, failure(s.log, codes.InvalidArgument, err)
	}
	s.mu.Lock()
	s.opened = opened
	s.mu.Unlock()
	return &pb.OpenSchedulerResponse{Traits: wire.TraitsToProto(opened.Traits(), opened.Snapshots())}, nil
}

func (s *schedulerServer) current() (*guard.Scheduler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		return nil, errNotOpen
	}
	return s.opened, nil
}

func (s *schedulerServer) Decide(ctx context.Context, m *pb.DecideRequest) (*pb.DecideResponse, error) {
	opened, err := s.current()
	if err != nil {
		return nil, err
	}
	answer, err := opened.Decide(ctx, wire.EventsFromProto(m.GetEvents()))
	if err != nil {
		return nil, failure(s.log, codes.Aborted, err)
	}
	return wire.DecisionsToProto(answer), nil
}

func (s *schedulerServer) SnapshotScheduler(context.Context, *pb.SnapshotSchedulerRequest) (*pb.SnapshotSchedulerResponse, error) {
	opened, err := s.current()
	if err != nil {
		return nil, err
	}
	state, err := opened.Snapshot()
	if err != nil {
		return nil, failure(s.log, codes.Aborted, err)
	}
	return &pb.SnapshotSchedulerResponse{Snapshot: state}, nil
}
