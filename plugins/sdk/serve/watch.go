//go:build !wasip1

package serve

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/service"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

type executorServer struct {
	pb.UnsafeExecutorServiceServer
	*service.Executor
}

// maxEvents is how many events go into one message of Watch.
const maxEvents = 1024

// Watch implements pb.ExecutorServiceServer.
func (s executorServer) Watch(_ *pb.WatchRequest, stream pb.ExecutorService_WatchServer) error {
	opened, err := s.Opened()
	if err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	for {
		events, err := opened.Recv(stream.Context())
		if err != nil {
			return nil // it is closed, or the host is gone: nobody to tell
		}
		for len(events) > 0 {
			n := min(len(events), maxEvents)
			if err := stream.Send(wire.LeaseEventsToProto(events[:n])); err != nil {
				return err
			}
			events = events[n:]
		}
	}
}
