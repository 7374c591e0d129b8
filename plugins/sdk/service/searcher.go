package service

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// A Searcher answers the calls of SearcherService.
type Searcher struct {
	plugin sdk.SearcherPlugin
	opened opened[guard.Searcher]
}

// NewSearcher returns a searcher that is not open yet.
func NewSearcher(p sdk.SearcherPlugin) *Searcher { return &Searcher{plugin: p} }

// DescribeSearcher returns the description.
func (s *Searcher) DescribeSearcher(context.Context, *pb.DescribeSearcherRequest) (*pb.DescribeSearcherResponse,
	error) {
	return &pb.DescribeSearcherResponse{Info: wire.InfoToProto(guard.Describe(s.plugin.Info, sdk.KindSearcher))}, nil
}

// OpenSearcher opens the searcher.
func (s *Searcher) OpenSearcher(_ context.Context, m *pb.OpenSearcherRequest) (*pb.OpenSearcherResponse, error) {
	problem, err := wire.ProblemFromProto(m.GetProblem())
	if err != nil {
		return nil, failure(InvalidArgument, err)
	}
	opened, err := guard.OpenSearcher(s.plugin, problem, m.GetOptions(), m.GetSnapshot())
	if err != nil {
		return nil, failure(InvalidArgument, err)
	}
	s.opened.Store(opened)
	return &pb.OpenSearcherResponse{Traits: wire.TraitsToProto(opened.Traits(), opened.Snapshots())}, nil
}

// Suggest delivers events and answers requests.
func (s *Searcher) Suggest(ctx context.Context, m *pb.SuggestRequest) (*pb.SuggestResponse, error) {
	opened, err := s.opened.get()
	if err != nil {
		return nil, err
	}
	if events := wire.EventsFromProto(m.GetEvents()); len(events) > 0 {
		if err := opened.Observe(ctx, events); err != nil {
			return nil, failure(Aborted, err)
		}
	}
	if len(m.GetRequests()) == 0 {
		return &pb.SuggestResponse{}, nil
	}
	answer, err := opened.Suggest(ctx, wire.RequestsFromProto(m.GetRequests()))
	if err != nil {
		return nil, failure(Aborted, err)
	}
	return wire.SuggestionsToProto(answer), nil
}

// SnapshotSearcher returns the state.
func (s *Searcher) SnapshotSearcher(context.Context, *pb.SnapshotSearcherRequest) (*pb.SnapshotSearcherResponse,
	error) {
	opened, err := s.opened.get()
	if err != nil {
		return nil, err
	}
	state, err := opened.Snapshot()
	if err != nil {
		return nil, failure(Aborted, err)
	}
	return &pb.SnapshotSearcherResponse{Snapshot: state}, nil
}
