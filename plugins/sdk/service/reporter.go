package service

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// A Reporter answers the calls of ReporterService.
type Reporter struct {
	plugin sdk.ReporterPlugin
	opened opened[guard.Reporter]
}

// NewReporter returns a reporter that is not open yet.
func NewReporter(p sdk.ReporterPlugin) *Reporter { return &Reporter{plugin: p} }

// DescribeReporter returns the description.
func (s *Reporter) DescribeReporter(context.Context, *pb.DescribeReporterRequest) (*pb.DescribeReporterResponse,
	error) {
	return &pb.DescribeReporterResponse{Info: wire.InfoToProto(guard.Describe(s.plugin.Info, sdk.KindReporter))}, nil
}

// OpenReporter opens the reporter.
func (s *Reporter) OpenReporter(_ context.Context, m *pb.OpenReporterRequest) (*pb.OpenReporterResponse, error) {
	problem, err := wire.ProblemFromProto(m.GetProblem())
	if err != nil {
		return nil, failure(InvalidArgument, err)
	}
	e := sdk.Experiment{Name: m.GetExperiment(), Dir: m.GetDir(), Told: m.GetTold(), Problem: problem}
	opened, err := guard.OpenReporter(s.plugin, e, m.GetOptions())
	if err != nil {
		return nil, failure(InvalidArgument, err)
	}
	s.opened.Store(opened)
	return &pb.OpenReporterResponse{After: opened.After()}, nil
}

// Report delivers events.
func (s *Reporter) Report(ctx context.Context, m *pb.ReportRequest) (*pb.ReportResponse, error) {
	opened, err := s.opened.get()
	if err != nil {
		return nil, err
	}
	if err := opened.Report(ctx, wire.ReporterEventsFromProto(m.GetEvents())); err != nil {
		return nil, failure(Aborted, err)
	}
	return &pb.ReportResponse{}, nil
}

// Close closes the reporter, if it was opened.
func (s *Reporter) Close() error {
	opened := s.opened.Load()
	if opened == nil {
		return nil
	}
	return opened.Close()
}
