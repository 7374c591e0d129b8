package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// Main serves a module, as the arguments after [Command] say, and returns the exit status.
func Main(args []string) int {
	var c Config
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &c) != nil || c.check() != nil {
		fmt.Fprintf(os.Stderr, "%s is for tunehost itself: a configuration must follow\n", Command)
		return 2
	}
	instances := uint64(1)
	if c.Kind == sdk.KindTrainable {
		instances = 2
	}
	if err := confine(instances*c.memory(), uint64(c.compileMemory())); err != nil {
		fmt.Fprintln(os.Stderr, "its limits cannot be set:", err)
		return 1
	}
	r := &runner{config: &c, log: serve.Logger()}
	s := serve.Server{Title: fmt.Sprintf("the sandbox of the %s %q", c.Kind, c.Name), Register: r.register}
	s.Options = []grpc.ServerOption{grpc.ForceServerCodecV2(rawCodec()), grpc.UnknownServiceHandler(r.unary)}
	return s.Run()
}

// runner serves one module.
type runner struct {
	config *Config
	log    hclog.Logger

	mu     sync.Mutex
	module *module
	first  *instance // answers all calls but training
}

// register registers TrainableService, the only service that does more than pass on calls.
func (r *runner) register(g *grpc.Server) {
	if r.config.Kind == sdk.KindTrainable {
		pb.RegisterTrainableServiceServer(g, &trainableServer{runner: r})
	}
}

// instance loads the module at the first call, so that the reason of a failure is an answer.
func (r *runner) instance() (*instance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first != nil {
		return r.first, nil
	}
	// The call's context must not affect what outlives the call.
	ctx := compilers(context.Background())
	if r.module == nil {
		m, err := load(ctx, r.config, r.log)
		if err != nil {
			return nil, status.Error(codes.FailedPrecondition, err.Error())
		}
		r.module = m
	}
	var err error
	r.first, err = r.module.instantiate(ctx)
	return r.first, err
}

// services are those whose calls are passed on unread.
var services = map[sdk.Kind]string{
	sdk.KindSearcher:  "/tunehost.v1.SearcherService/",
	sdk.KindScheduler: "/tunehost.v1.SchedulerService/",
}

// unary passes a call to the module, and its answer back.
func (r *runner) unary(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	if prefix := services[r.config.Kind]; prefix == "" || !strings.HasPrefix(method, prefix) {
		return status.Errorf(codes.Unimplemented, "%s has no method %s", r.config.Kind.WithArticle(), method)
	}
	var request raw
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	i, err := r.instance()
	if err != nil {
		return err
	}
	answer, err := i.call(context.Background(), method, request, limit(method))
	if err != nil {
		return err
	}
	return stream.SendMsg((*raw)(&answer))
}

// limit returns how large a method's answer may be.
func limit(method string) int {
	if strings.Contains(method, "/Snapshot") {
		return abi.MaxSnapshotBytes
	}
	return abi.MaxAnswerBytes
}

// forward calls a method with messages.
func forward(ctx context.Context, i *instance, method string, request, answer proto.Message) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	out, err := i.call(ctx, method, in, limit(method))
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(out, answer); err != nil {
		return status.Error(codes.Internal, "its answer cannot be read: "+err.Error())
	}
	return nil
}

// trainableServer answers for a module that trains.
type trainableServer struct {
	pb.UnsafeTrainableServiceServer
	runner *runner

	mu     sync.Mutex
	opened *trainable // nil until it is opened
	traits sdk.TrainableTraits
	began  bool
}

func (s *trainableServer) DescribeTrainable(ctx context.Context,
	m *pb.DescribeTrainableRequest) (*pb.DescribeTrainableResponse, error) {
	i, err := s.runner.instance()
	if err != nil {
		return nil, err
	}
	answer := &pb.DescribeTrainableResponse{}
	return answer, forward(detached(ctx), i, pb.TrainableService_DescribeTrainable_FullMethodName, m, answer)
}

// OpenTrainable says that the process may be used again, since each attempt has an instance of its
// own, but not by two trials at a time: they would wait for each other.
func (s *trainableServer) OpenTrainable(ctx context.Context, m *pb.OpenTrainableRequest) (*pb.OpenTrainableResponse,
	error) {
	i, err := s.runner.instance()
	if err != nil {
		return nil, err
	}
	answer := &pb.OpenTrainableResponse{}
	if err := forward(detached(ctx), i, pb.TrainableService_OpenTrainable_FullMethodName, m, answer); err != nil {
		return nil, err
	}
	i.close(detached(ctx)) // it is not needed any more
	answer.Reusable, answer.Shared = true, false
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = &trainable{s.runner.module, m.GetOptions()}
	s.traits = sdk.TrainableTraits{Reusable: true, Saves: answer.GetSaves(), Requests: answer.GetRequests()}
	return answer, nil
}

// RequestResources asks an instance of its own: the answer depends on the parameters alone.
func (s *trainableServer) RequestResources(ctx context.Context,
	m *pb.RequestResourcesRequest) (*pb.RequestResourcesResponse, error) {
	s.mu.Lock()
	opened := s.opened
	s.mu.Unlock()
	if opened == nil {
		return nil, errNotOpen
	}
	i, err := opened.open(detached(ctx))
	if err != nil {
		return nil, err
	}
	defer i.close(detached(ctx))
	answer := &pb.RequestResourcesResponse{}
	return answer, forward(detached(ctx), i, pb.TrainableService_RequestResources_FullMethodName, m, answer)
}

var errNotOpen = status.Error(codes.FailedPrecondition, "the trainable was not opened")

// detached returns a context that does not end with the call: the module's work ends only with its
// process.
func detached(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// Train implements pb.TrainableServiceServer.
func (s *trainableServer) Train(stream pb.TrainableService_TrainServer) error {
	session, err := s.begin()
	if err != nil {
		return err
	}
	return serve.Carry(stream, session)
}

// begin makes the process's only session.
func (s *trainableServer) begin() (*train.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		return nil, errNotOpen
	}
	if s.began {
		return nil, status.Error(codes.FailedPrecondition, "a process has one Train stream, and it was used already")
	}
	s.began = true
	return train.NewSession(s.opened, s.traits), nil
}
