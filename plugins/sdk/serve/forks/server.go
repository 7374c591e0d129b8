//go:build linux

package forks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// maxStatus bounds an error, which travels in a header.
const maxStatus = 4000

// Main serves the trainable of the program that has started this process, and returns the exit status.
func Main(args []string) int {
	if len(args) != 2 || args[0] != version {
		fmt.Fprintf(os.Stderr, "%s is for programs that fork: %s and a file descriptor must follow\n", Command, version)
		return 2
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM) // it ends with the host: see serve.Run
	conn, err := inherited(args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "the file descriptor %s is not the program's: %v\n", args[1], err)
		return 1
	}
	s := &server{program: newProgram(conn)}
	go func() {
		fmt.Fprintln(os.Stderr, s.program.listen())
		os.Exit(1)
	}()
	return serve.Server{Title: "a trainable", Register: func(g *grpc.Server) {
		pb.RegisterTrainableServiceServer(g, s)
	}, End: s.end}.Run()
}

// inherited returns the program's socket.
func inherited(fd string) (*net.UnixConn, error) {
	number, err := strconv.Atoi(fd)
	if err != nil {
		return nil, err
	}
	return connection(number)
}

// server implements the protocol.
type server struct {
	pb.UnsafeTrainableServiceServer
	program *program

	mu     sync.Mutex
	opened bool
	traits traits
	trains bool
}

type traits struct {
	Reusable, Shared, Saves, Requests bool
}

// DescribeTrainable implements pb.TrainableServiceServer.
func (s *server) DescribeTrainable(context.Context, *pb.DescribeTrainableRequest) (*pb.DescribeTrainableResponse,
	error) {
	var d description
	if err := s.program.call(&d, "describe"); err != nil {
		return nil, failure(codes.Aborted, "", err)
	}
	return &pb.DescribeTrainableResponse{Info: wire.InfoToProto(d.info())}, nil
}

// OpenTrainable implements pb.TrainableServiceServer.
func (s *server) OpenTrainable(_ context.Context, m *pb.OpenTrainableRequest) (*pb.OpenTrainableResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened {
		return nil, status.Error(codes.FailedPrecondition, "the trainable is open already")
	}
	if err := s.program.call(&s.traits, "open", object(m.GetOptions())); err != nil {
		return nil, failure(codes.InvalidArgument, "", err)
	}
	s.opened = true
	t := s.traits
	return &pb.OpenTrainableResponse{Reusable: t.Reusable, Shared: t.Shared, Saves: t.Saves, Requests: t.Requests}, nil
}

// RequestResources implements pb.TrainableServiceServer.
func (s *server) RequestResources(_ context.Context, m *pb.RequestResourcesRequest) (*pb.RequestResourcesResponse,
	error) {
	if err := s.isOpen(); err != nil {
		return nil, err
	}
	var resources json.RawMessage
	if err := s.program.call(&resources, "request", object(m.GetParams())); err != nil {
		return nil, failure(codes.Aborted, "request: ", err)
	}
	return &pb.RequestResourcesResponse{Resources: resources}, nil
}

// Train implements pb.TrainableServiceServer.
func (s *server) Train(stream pb.TrainableService_TrainServer) error {
	if err := s.isOpen(); err != nil {
		return err
	}
	s.mu.Lock()
	again := s.trains
	s.trains = true
	s.mu.Unlock()
	if again {
		return status.Error(codes.FailedPrecondition, "a process has one Train stream, and it was used already")
	}
	return serve.Carry(stream, s.program.begin())
}

func (s *server) isOpen() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opened {
		return status.Error(codes.FailedPrecondition, "the plugin was not opened")
	}
	return nil
}

func (s *server) end() {
	if session := s.program.trials(); session != nil {
		session.Close()
	}
}

// object is a JSON object that may be missing.
func object(text []byte) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("{}")
	}
	return text
}

// failure makes the answer of an error.
func failure(code codes.Code, where string, err error) error {
	if _, ok := errors.AsType[*refusedError](err); !ok {
		code = codes.Internal
	}
	text := where + err.Error()
	return status.Error(code, text[:min(len(text), maxStatus)])
}
