package process

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// maxEvents is how many events go into one message. They fit into 4 MiB many times over, unless each
// has a thousand metrics.
const maxEvents = 1024

// Describe implements plugin.Plugin.
func (p *Process) Describe(context.Context) (sdk.Info, error) { return p.infos[0], nil }

// Infos returns what the plugin says it is: one entry, or, if it was started without a kind, one for
// each kind that it serves. It can be opened as the first.
func (p *Process) Infos() []sdk.Info { return p.infos }

// identify asks the plugin what it is.
func (p *Process) identify(ctx context.Context) error {
	if p.config.Kind != "" {
		info, err := p.describe(ctx, p.config.Kind)
		p.infos = []sdk.Info{wire.InfoFromProto(info)}
		p.infos[0].Options = schemas.same(p.config.Kind, p.infos[0].Options)
		return err
	}
	for _, kind := range sdk.Kinds() {
		info, err := p.describe(ctx, kind)
		if err != nil && status.Code(err) != codes.Unimplemented {
			return err
		}
		if err == nil {
			p.infos = append(p.infos, wire.InfoFromProto(info))
		}
	}
	if len(p.infos) == 0 {
		return status.Error(codes.Unimplemented, "it serves no kind of plugin")
	}
	p.config.Kind = p.infos[0].Kind
	return nil
}

// schemas are the last ones of options, by kind.
var schemas = lastSchemas{of: map[sdk.Kind][]byte{}}

// lastSchemas makes equal schemas one: a host may have a thousand processes of one plugin, and a schema ten kilobytes.
type lastSchemas struct {
	mu sync.Mutex
	of map[sdk.Kind][]byte
}

func (l *lastSchemas) same(kind sdk.Kind, schema []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !bytes.Equal(l.of[kind], schema) {
		l.of[kind] = schema
	}
	return l.of[kind]
}

func (p *Process) describe(ctx context.Context, kind sdk.Kind) (*pb.Info, error) {
	switch kind {
	case sdk.KindSearcher:
		m, err := pb.NewSearcherServiceClient(p.conn).DescribeSearcher(ctx, &pb.DescribeSearcherRequest{})
		return m.GetInfo(), err
	case sdk.KindScheduler:
		m, err := pb.NewSchedulerServiceClient(p.conn).DescribeScheduler(ctx, &pb.DescribeSchedulerRequest{})
		return m.GetInfo(), err
	case sdk.KindTrainable:
		m, err := pb.NewTrainableServiceClient(p.conn).DescribeTrainable(ctx, &pb.DescribeTrainableRequest{})
		return m.GetInfo(), err
	case sdk.KindReporter:
		m, err := pb.NewReporterServiceClient(p.conn).DescribeReporter(ctx, &pb.DescribeReporterRequest{})
		return m.GetInfo(), err
	case sdk.KindExecutor:
		m, err := pb.NewExecutorServiceClient(p.conn).DescribeExecutor(ctx, &pb.DescribeExecutorRequest{})
		return m.GetInfo(), err
	}
	return nil, fmt.Errorf("plugins of the kind %q cannot be described", kind)
}

// openOnce allows one opening of a process, as the kind that it was started as.
func (p *Process) openOnce(kind sdk.Kind) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind != p.config.Kind {
		return p.failure(plugin.NotStarted, "is not "+kind.WithArticle(), nil)
	}
	if p.opened {
		return p.failure(plugin.Failed, "was opened twice", nil)
	}
	p.opened = true
	return nil
}

// OpenSearcher implements plugin.Opener.
func (p *Process) OpenSearcher(ctx context.Context, problem sdk.Problem, options, snapshot []byte) (plugin.Searcher,
	error) {
	if err := p.openOnce(sdk.KindSearcher); err != nil {
		return nil, err
	}
	client := pb.NewSearcherServiceClient(p.conn)
	m, err := client.OpenSearcher(ctx, &pb.OpenSearcherRequest{
		Problem: wire.ProblemToProto(problem), Options: options, Snapshot: snapshot,
	})
	if err != nil {
		return nil, p.callFailure(ctx, "Open", err)
	}
	return &searcher{instance: newInstance(p, problem, m.GetTraits()), client: client}, nil
}

// OpenScheduler implements plugin.Opener.
func (p *Process) OpenScheduler(ctx context.Context, problem sdk.Problem, options, snapshot []byte) (plugin.Scheduler,
	error) {
	if err := p.openOnce(sdk.KindScheduler); err != nil {
		return nil, err
	}
	client := pb.NewSchedulerServiceClient(p.conn)
	m, err := client.OpenScheduler(ctx, &pb.OpenSchedulerRequest{
		Problem: wire.ProblemToProto(problem), Options: options, Snapshot: snapshot,
	})
	if err != nil {
		return nil, p.callFailure(ctx, "Open", err)
	}
	return &scheduler{instance: newInstance(p, problem, m.GetTraits()), client: client}, nil
}

// instance has the common methods of opened searchers and schedulers.
type instance struct {
	*Process
	dims      int
	traits    sdk.Traits
	snapshots bool
}

func newInstance(p *Process, problem sdk.Problem, traits *pb.Traits) instance {
	i := instance{Process: p, dims: len(problem.Space.Params)}
	i.traits, i.snapshots = wire.TraitsFromProto(traits)
	return i
}

func (i *instance) Traits() sdk.Traits { return i.traits }
func (i *instance) Snapshots() bool    { return i.snapshots }

type searcher struct {
	instance
	client pb.SearcherServiceClient
}

// Observe implements sdk.Searcher.
func (s *searcher) Observe(ctx context.Context, events []sdk.Event) error {
	for len(events) > 0 {
		n := min(len(events), maxEvents)
		if _, err := s.client.Suggest(ctx, &pb.SuggestRequest{Events: wire.EventsToProto(events[:n])}); err != nil {
			return s.callFailure(ctx, "Observe", err)
		}
		events = events[n:]
	}
	return nil
}

// Suggest implements sdk.Searcher.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	m, err := s.client.Suggest(ctx, &pb.SuggestRequest{Requests: wire.RequestsToProto(requests)})
	if err != nil {
		return sdk.Suggestions{}, s.callFailure(ctx, "Suggest", err)
	}
	answer, err := wire.SuggestionsFromProto(m)
	if err == nil {
		err = guard.CheckSuggestions(s.dims, requests, answer)
	}
	if err != nil {
		return sdk.Suggestions{}, s.garbage("Suggest", err)
	}
	return answer, nil
}

// Snapshot implements plugin.Instance.
func (s *searcher) Snapshot(ctx context.Context) ([]byte, error) {
	m, err := s.client.SnapshotSearcher(ctx, &pb.SnapshotSearcherRequest{}, grpc.MaxCallRecvMsgSize(maxSnapshot))
	if err != nil {
		return nil, s.callFailure(ctx, "Snapshot", err)
	}
	return m.GetSnapshot(), nil
}

type scheduler struct {
	instance
	client pb.SchedulerServiceClient
}

// Decide implements sdk.Scheduler.
func (s *scheduler) Decide(ctx context.Context, events []sdk.Event) (answer sdk.Decisions, err error) {
	for len(events) > 0 {
		n := min(len(events), maxEvents)
		part, err := s.decide(ctx, events[:n])
		if err != nil {
			return sdk.Decisions{}, err
		}
		answer.Decisions = append(answer.Decisions, part.Decisions...)
		answer.Commands = append(answer.Commands, part.Commands...)
		events = events[n:]
	}
	return answer, nil
}

func (s *scheduler) decide(ctx context.Context, events []sdk.Event) (sdk.Decisions, error) {
	m, err := s.client.Decide(ctx, &pb.DecideRequest{Events: wire.EventsToProto(events)})
	if err != nil {
		return sdk.Decisions{}, s.callFailure(ctx, "Decide", err)
	}
	answer, err := wire.DecisionsFromProto(m)
	if err == nil {
		err = guard.CheckDecisions(s.dims, events, answer)
	}
	if err != nil {
		return sdk.Decisions{}, s.garbage("Decide", err)
	}
	return answer, nil
}

// Snapshot implements plugin.Instance.
func (s *scheduler) Snapshot(ctx context.Context) ([]byte, error) {
	m, err := s.client.SnapshotScheduler(ctx, &pb.SnapshotSchedulerRequest{}, grpc.MaxCallRecvMsgSize(maxSnapshot))
	if err != nil {
		return nil, s.callFailure(ctx, "Snapshot", err)
	}
	return m.GetSnapshot(), nil
}
