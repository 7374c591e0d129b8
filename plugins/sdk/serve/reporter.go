package serve

import (
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

type reporterServer struct {
	pb.UnimplementedReporterServiceServer
	plugin sdk.ReporterPlugin
	log    hclog.Logger

	mu     sync.Mutex
	opened *guard.Reporter
}

func (s *reporterServer) DescribeReporter(context.Context, *pb.DescribeReporterRequest) (*pb.DescribeReporterResponse, error) {
	return &pb.DescribeReporterResponse{Info: wire.InfoToProto(guard.Describe(s.plugin.Info, sdk.KindReporter))}, nil
}

func (s *reporterServer) OpenReporter(_ context.Context, m *pb.OpenReporterRequest) (*pb.OpenReporterResponse, error) {
	problem, err := wire.ProblemFromProto(m.GetProblem())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	e := sdk.Experiment{Name: m.GetExperiment(), Dir: m.GetDir(), Told: m.GetTold(), Problem: problem}
	opened, err := guard.OpenReporter(s.plugin, e, m.GetOptions())
	if err != nil {
		return nil, failure(s.log, codes.InvalidArgument, err)
	}
	s.mu.Lock()
	s.opened = opened
	s.mu.Unlock()
	return &pb.OpenReporterResponse{After: opened.After()}, nil
}

func (s *reporterServer) current() *guard.Reporter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

func (s *reporterServer) Report(ctx context.Context, m *pb.ReportRequest) (*pb.ReportResponse, error) {
	opened := s.current()
	if opened == nil {
		return nil, errNotOpen
	}
	if err := opened.Report(ctx, wire.ReporterEventsFromProto(m.GetEvents())); err != nil {
		return nil, failure(s.log, codes.Aborted, err)
	}
	return &pb.ReportResponse{}, nil
}

// end closes the reporter.
func (s *reporterServer) end() {
	opened := s.current()
	if opened == nil {
		return
	}
	if err := opened.Close(); err != nil {
		s.log.Error("closing: " + err.Error())
	}
}
