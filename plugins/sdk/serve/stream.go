//go:build !wasip1

package serve

import (
	"runtime"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/service"
	"github.com/tunehost/tunehost/plugins/sdk/train"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

type trainableServer struct {
	pb.UnsafeTrainableServiceServer
	*service.Trainable

	mu      sync.Mutex
	session *train.Session
}

// begin returns the only session of the process.
func (s *trainableServer) begin() (*train.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	opened, traits, err := s.Opened()
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	if s.session != nil {
		return nil, status.Error(codes.FailedPrecondition, "a process has one Train stream, and it was used already")
	}
	s.session = train.NewSession(opened, traits)
	if _, launches := opened.(sdk.Launcher); !launches && !traits.Shared {
		s.session.BeforeRun = printToFiles
	}
	return s.session, nil
}

// end closes the session and waits for training code to return.
func (s *trainableServer) end() {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session != nil {
		session.Close()
		session.Wait()
	}
}

// Train implements pb.TrainableServiceServer.
func (s *trainableServer) Train(stream pb.TrainableService_TrainServer) error {
	session, err := s.begin()
	if err != nil {
		return err
	}
	return Carry(stream, session)
}

// Runs are the runs of a Train stream: a [train.Session], or what stands for one.
type Runs interface {
	// Send executes commands, in order, without waiting for their effect. An error means that the host violated
	// the protocol.
	Send(commands []train.Command) error
	// Recv waits for events and returns all waiting ones; an error after Close. The slice is valid until the next
	// call.
	Recv() ([]train.Event, error)
	// Close ends every run.
	Close()
}

// Carry connects runs with a Train stream until one of them ends: one goroutine reads, and the
// caller's goroutine writes all waiting events in one message.
func Carry(stream pb.TrainableService_TrainServer, session Runs) error {
	broken := make(chan error, 1)
	go func() {
		broken <- readCommands(stream, session)
		session.Close()
	}()
	for {
		events, err := session.Recv()
		if err != nil {
			return <-broken
		}
		if err := sendEvents(stream, events); err != nil {
			session.Close()
			return err
		}
		// Let the runs that were just answered report before the next message.
		runtime.Gosched()
	}
}

// readCommands returns nil when the host has closed its side.
func readCommands(stream pb.TrainableService_TrainServer, session Runs) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return nil // the host closed or is gone: nobody receives an error
		}
		commands, err := wire.CommandsFromProto(m)
		if err == nil {
			err = session.Send(commands)
		}
		if err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
	}
}

// maxBatch keeps a message well below the host's limit: roughly the bytes of its texts and metrics.
const maxBatch = 512 << 10

func sendEvents(stream pb.TrainableService_TrainServer, events []train.Event) error {
	for len(events) > 0 {
		n := batch(events)
		if err := stream.Send(wire.TrainEventsToProto(events[:n])); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// batch returns the number of events for the next message, at least one.
func batch(events []train.Event) int {
	size := 0
	for i := range events {
		size += weight(&events[i])
		if size > maxBatch && i > 0 {
			return i
		}
	}
	return len(events)
}

func weight(e *train.Event) int {
	n := 32 + len(e.Checkpoint) + len(e.Error) + len(e.Text) + len(e.Values)
	for _, m := range e.Metrics {
		n += 16 + len(m.Name)
	}
	return n
}
