package service

import (
	"context"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// A Trainable answers the unary calls of TrainableService.
type Trainable struct {
	plugin sdk.TrainablePlugin

	mu     sync.Mutex
	opened sdk.Trainable
	traits sdk.TrainableTraits
}

// NewTrainable returns a trainable that is not open yet.
func NewTrainable(p sdk.TrainablePlugin) *Trainable { return &Trainable{plugin: p} }

// DescribeTrainable returns the description.
func (s *Trainable) DescribeTrainable(context.Context, *pb.DescribeTrainableRequest) (*pb.DescribeTrainableResponse,
	error) {
	return &pb.DescribeTrainableResponse{Info: wire.InfoToProto(guard.Describe(s.plugin.Info, sdk.KindTrainable))}, nil
}

// OpenTrainable opens the trainable.
func (s *Trainable) OpenTrainable(_ context.Context, m *pb.OpenTrainableRequest) (*pb.OpenTrainableResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != nil {
		return nil, &Error{Code: FailedPrecondition, Text: "the trainable is open already"}
	}
	t, traits, err := guard.OpenTrainable(s.plugin, m.GetOptions())
	if err != nil {
		return nil, failure(InvalidArgument, err)
	}
	s.opened, s.traits = t, traits
	return &pb.OpenTrainableResponse{Reusable: traits.Reusable, Shared: traits.Shared, Saves: traits.Saves,
		Requests: traits.Requests}, nil
}

// RequestResources returns the resource request of a trial with the parameters.
func (s *Trainable) RequestResources(_ context.Context, m *pb.RequestResourcesRequest) (*pb.RequestResourcesResponse,
	error) {
	opened, _, err := s.Opened()
	if err != nil {
		return nil, err
	}
	resources, err := guard.Request(opened, m.GetParams())
	if err != nil {
		return nil, failure(Aborted, err)
	}
	return &pb.RequestResourcesResponse{Resources: resources}, nil
}

// Opened returns the author's trainable, or an error if it is not open.
func (s *Trainable) Opened() (sdk.Trainable, sdk.TrainableTraits, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		return nil, sdk.TrainableTraits{}, errNotOpen
	}
	return s.opened, s.traits, nil
}
