package host

import (
	"context"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/points"
	"github.com/tunehost/tunehost/host/queue"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// maxUntold is how many events wait before a searcher that is not asked is told
// of them all the same.
const maxUntold = 1000

// searching drives the searcher: what it is told and asked, in order.
type searching struct {
	searcher plugin.Searcher
	name     string
	seed     uint64
	inbox    *inbox.Inbox
	log      *hostlog.Log
	clock    clock.Clock
	slow     time.Duration
	space    *space.Space
	// suggestion makes a trial of a point, or says why it cannot be one.
	suggestion func(index uint64, p space.Point) (core.Suggestion, error)

	work      *queue.Queue[searchWork]
	untold    []sdk.Event
	scratch   []byte
	told      uint64 // the last event
	snapshots *snapshots
	done      chan struct{}
}

// searchWork is an event to tell, or a question.
type searchWork struct {
	event sdk.Event
	ask   *core.AskSearcher
}

func (s *searching) run(ctx context.Context) {
	defer close(s.done)
	for {
		items, ok := s.work.Take()
		if !ok || s.handle(ctx, items) != nil {
			return
		}
	}
}

// handle tells and asks; what is told waits for the next question.
func (s *searching) handle(ctx context.Context, items []searchWork) error {
	for _, w := range items {
		if w.ask == nil {
			s.untold = append(s.untold, w.event)
		}
		if w.ask == nil && len(s.untold) < maxUntold {
			continue
		}
		if err := s.tell(ctx); err != nil {
			return err
		}
		if w.ask == nil {
			continue
		}
		if err := s.ask(ctx, *w.ask); err != nil {
			return err
		}
	}
	if s.snapshots.due(s.searcher, s.told) {
		s.snapshots.take(ctx, s.searcher, s.told)
	}
	return nil
}

func (s *searching) tell(ctx context.Context) error {
	if len(s.untold) == 0 {
		return nil
	}
	defer s.timed("observing", s.clock.Now())
	events := s.untold
	s.told = events[len(events)-1].Number
	err := s.searcher.Observe(ctx, events)
	clear(events)
	s.untold = events[:0]
	return s.failed(ctx, err)
}

func (s *searching) ask(ctx context.Context, a core.AskSearcher) error {
	defer s.timed("suggesting", s.clock.Now())
	answer, err := s.searcher.Suggest(ctx, requests(s.space, s.seed, a))
	if err != nil {
		return s.failed(ctx, err)
	}
	e := &core.SuggestionsReceived{Ask: a.Ask, Status: core.SearcherStatus(answer.Status)}
	for i, p := range answer.Points[:min(len(answer.Points), a.Count)] {
		g, err := s.suggestion(a.First+uint64(i), p)
		if err != nil {
			return s.failed(ctx, err)
		}
		e.Suggestions = append(e.Suggestions, g)
	}
	if s.scratch, err = recordable(s.scratch, e); err != nil {
		return s.failed(ctx, fmt.Errorf("searcher %s: its suggestions cannot be recorded: %w", s.name, err))
	}
	s.inbox.Post(e)
	return nil
}

// requests are what a question means to the searcher: grid axes are given.
func requests(sp *space.Space, seed uint64, a core.AskSearcher) []sdk.Request {
	list := make([]sdk.Request, a.Count)
	for i := range list {
		n := a.First + uint64(i)
		list[i] = sdk.Request{Trial: uint32(n), Seed: seeds.For(seed, seeds.Suggestion, n), Given: points.GridPoint(sp, n)}
	}
	return list
}

// failed ends the experiment, saved, when the searcher is beyond help (B-077,
// B-107).
func (s *searching) failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		s.inbox.Post(&core.PluginFailed{Error: err.Error()})
	}
	return err
}

func (s *searching) timed(what string, since time.Time) {
	if d := s.clock.Since(since); d > s.slow {
		s.log.Slow("searcher "+s.name+", "+what+",", d)
	}
}
