// Package inproc runs plugins that are Go values in the host's own process, for tests and simulation,
// where processes would only cost time. They behave as in a process of their own, except that the host
// does not survive a crash of the runtime or code that never returns.
package inproc

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// New starts a plugin: an sdk.SearcherPlugin, sdk.SchedulerPlugin,
// sdk.TrainablePlugin, sdk.ReporterPlugin or sdk.ExecutorPlugin.
func New(value any) (plugin.Plugin, error) {
	p := &inproc{}
	switch v := value.(type) {
	case sdk.SearcherPlugin:
		p.info, p.searcher = guard.Describe(v.Info, sdk.KindSearcher), &v
	case sdk.SchedulerPlugin:
		p.info, p.scheduler = guard.Describe(v.Info, sdk.KindScheduler), &v
	case sdk.TrainablePlugin:
		p.info, p.trainable = guard.Describe(v.Info, sdk.KindTrainable), &v
	case sdk.ReporterPlugin:
		p.info, p.reporter = guard.Describe(v.Info, sdk.KindReporter), &v
	case sdk.ExecutorPlugin:
		p.info, p.executor = guard.Describe(v.Info, sdk.KindExecutor), &v
	default:
		return nil, fmt.Errorf("%T is not a plugin", value)
	}
	p.life.name = fmt.Sprintf("%s %q", p.info.Kind, p.info.Name)
	return p, nil
}

// Direct is [New] with calls on the caller's own goroutine, which cannot be given up. It is for
// trusted plugins that are called so often that a goroutine for each call is too slow.
func Direct(value any) (plugin.Plugin, error) {
	p, err := New(value)
	if p, ok := p.(*inproc); ok {
		p.life.direct = true
	}
	return p, err
}

type inproc struct {
	info      sdk.Info
	searcher  *sdk.SearcherPlugin
	scheduler *sdk.SchedulerPlugin
	trainable *sdk.TrainablePlugin
	reporter  *sdk.ReporterPlugin
	executor  *sdk.ExecutorPlugin
	life      life
	trainer   atomic.Pointer[trainer]
}

var _ plugin.Plugin = (*inproc)(nil)

func (p *inproc) Describe(context.Context) (sdk.Info, error) { return p.info, nil }

func (p *inproc) Close() error {
	p.life.end(errClosed)
	if t := p.trainer.Load(); t != nil {
		t.session.Close()
	}
	return nil
}

// Transport names how the plugin is reached.
func (p *inproc) Transport() string { return "in-process" }

func (p *inproc) wrong(kind sdk.Kind) error {
	return p.life.failure(plugin.NotStarted, "is not "+kind.WithArticle(), nil)
}

func (p *inproc) OpenSearcher(ctx context.Context, problem sdk.Problem, options, snapshot []byte) (plugin.Searcher,
	error) {
	if p.searcher == nil {
		return nil, p.wrong(sdk.KindSearcher)
	}
	s := &searcher{instance: instance{p: p}}
	err := p.life.open(ctx, func() (err error) {
		s.impl, err = guard.OpenSearcher(*p.searcher, problem, options, snapshot)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.of = s.impl
	return s, nil
}

func (p *inproc) OpenScheduler(ctx context.Context, problem sdk.Problem, options, snapshot []byte) (plugin.Scheduler,
	error) {
	if p.scheduler == nil {
		return nil, p.wrong(sdk.KindScheduler)
	}
	s := &scheduler{instance: instance{p: p}}
	err := p.life.open(ctx, func() (err error) {
		s.impl, err = guard.OpenScheduler(*p.scheduler, problem, options, snapshot)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.of = s.impl
	return s, nil
}

func (p *inproc) OpenTrainable(ctx context.Context, options []byte) (plugin.Trainer, error) {
	if p.trainable == nil {
		return nil, p.wrong(sdk.KindTrainable)
	}
	t := &trainer{p: p}
	err := p.life.open(ctx, func() error {
		impl, traits, err := guard.OpenTrainable(*p.trainable, options)
		t.impl, t.traits = impl, traits
		t.session = train.NewSession(impl, traits)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.trainer.Store(t)
	return t, nil
}

// guarded has the common methods of opened searchers and schedulers.
type guarded interface {
	Traits() sdk.Traits
	Snapshots() bool
	Snapshot() ([]byte, error)
}

type instance struct {
	p  *inproc
	of guarded
}

func (i *instance) Traits() sdk.Traits { return i.of.Traits() }
func (i *instance) Snapshots() bool    { return i.of.Snapshots() }
func (i *instance) Close() error       { return i.p.Close() }

func (i *instance) Snapshot(ctx context.Context) ([]byte, error) {
	return call(ctx, &i.p.life, "Snapshot", i.of.Snapshot)
}

type searcher struct {
	instance
	impl *guard.Searcher
}

func (s *searcher) Observe(ctx context.Context, events []sdk.Event) error {
	_, err := call(ctx, &s.p.life, "Observe", func() (struct{}, error) {
		return struct{}{}, s.impl.Observe(ctx, events)
	})
	return err
}

func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	return call(ctx, &s.p.life, "Suggest", func() (sdk.Suggestions, error) {
		return s.impl.Suggest(ctx, requests)
	})
}

type scheduler struct {
	instance
	impl *guard.Scheduler
}

func (s *scheduler) Decide(ctx context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return call(ctx, &s.p.life, "Decide", func() (sdk.Decisions, error) {
		return s.impl.Decide(ctx, events)
	})
}

type trainer struct {
	p       *inproc
	impl    sdk.Trainable
	session *train.Session
	traits  sdk.TrainableTraits
}

func (t *trainer) Traits() sdk.TrainableTraits  { return t.traits }
func (t *trainer) Send(c []train.Command) error { return t.session.Send(c) }
func (t *trainer) Recv() ([]train.Event, error) { return t.session.Recv() }
func (t *trainer) Kill()                        { t.session.Close() }
func (t *trainer) Close() error                 { return t.p.Close() }

func (t *trainer) Request(ctx context.Context, params []byte) ([]byte, error) {
	return call(ctx, &t.p.life, "Request", func() ([]byte, error) { return guard.Request(t.impl, params) })
}

var errClosed = errors.New("the plugin is closed")
