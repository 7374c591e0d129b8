//go:build !wasip1

package serve

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/service"
)

// services registers the set with a gRPC server.
type services struct {
	set       Set
	log       hclog.Logger
	trainable *trainableServer // nil if the set has none
	reporter  *service.Reporter
	executor  *service.Executor
}

// The Unsafe interfaces require package service to have every method: a missing one is a compile
// error.
type (
	searcherServer struct {
		pb.UnsafeSearcherServiceServer
		*service.Searcher
	}
	schedulerServer struct {
		pb.UnsafeSchedulerServiceServer
		*service.Scheduler
	}
	reporterServer struct {
		pb.UnsafeReporterServiceServer
		*service.Reporter
	}
)

func newServices(s Set, log hclog.Logger) *services {
	out := &services{set: s, log: log}
	if s.Reporter != nil {
		out.reporter = service.NewReporter(*s.Reporter)
	}
	if s.Executor != nil {
		out.executor = service.NewExecutor(*s.Executor)
	}
	if s.Trainable != nil {
		out.trainable = &trainableServer{Trainable: service.NewTrainable(*s.Trainable)}
	}
	return out
}

func (s *services) register(g *grpc.Server) {
	if p := s.set.Searcher; p != nil {
		pb.RegisterSearcherServiceServer(g, searcherServer{Searcher: service.NewSearcher(*p)})
	}
	if p := s.set.Scheduler; p != nil {
		pb.RegisterSchedulerServiceServer(g, schedulerServer{Scheduler: service.NewScheduler(*p)})
	}
	if s.trainable != nil {
		pb.RegisterTrainableServiceServer(g, s.trainable)
	}
	if s.reporter != nil {
		pb.RegisterReporterServiceServer(g, reporterServer{Reporter: s.reporter})
	}
	if s.executor != nil {
		pb.RegisterExecutorServiceServer(g, executorServer{Executor: s.executor})
	}
}

// end tells training code to return, and closes a reporter or an executor.
func (s *services) end() {
	if s.trainable != nil {
		s.trainable.end()
	}
	var errs []error
	if s.reporter != nil {
		errs = append(errs, s.reporter.Close())
	}
	if s.executor != nil {
		errs = append(errs, s.executor.Close())
	}
	if err := errors.Join(errs...); err != nil {
		s.log.Error("closing: " + err.Error())
	}
}

// translate turns errors of package service into gRPC errors and logs the stack of a panic.
func translate(log hclog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		answer, err := next(ctx, request)
		e, ok := errors.AsType[*service.Error](err)
		if !ok {
			return answer, err
		}
		if e.Stack != nil {
			frames, _ := guard.Frames(e.Stack)
			log.Error(e.Text, "stack", frames, "whole_stack", string(e.Stack))
		}
		return nil, status.Error(codes.Code(e.Code), e.Text)
	}
}
