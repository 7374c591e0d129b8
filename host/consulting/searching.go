package consulting

import (
	"context"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/points"
	"github.com/tunehost/tunehost/host/queue"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// maxUntold is how many events wait before a searcher that is not asked is told
// of them all the same.
const maxUntold = 1000

// SearchOptions are what searching works with.
type SearchOptions struct {
	Options
	Searcher plugin.Searcher
	Told     uint64 // the last event that it was told when it was opened
	Space    *space.Space
	Seed     uint64
	// Suggestion makes a trial of a point, or says why it cannot be one.
	Suggestion func(index uint64, p space.Point) (core.Suggestion, error)
}

// Searching drives the searcher: what it is told and asked, in order.
type Searching struct {
	SearchOptions
	work    *queue.Queue[SearchWork]
	untold  []sdk.Event
	scratch []byte
	told    uint64 // the last event
	done    chan struct{}
}

// NewSearching is one that Run sets going, or whoever turns it by hand.
func NewSearching(o SearchOptions) *Searching {
	return &Searching{SearchOptions: o, work: queue.New[SearchWork](), told: o.Told, done: make(chan struct{})}
}

// SearchWork is an event to tell, or a question.
type SearchWork struct {
	Event sdk.Event
	Ask   *core.AskSearcher
}

// Put adds work without waking it; Flush does.
func (s *Searching) Put(w SearchWork) { s.work.Put(w) }

// Flush has all that was put told and asked.
func (s *Searching) Flush() { s.work.Flush() }

// Close lets Run end.
func (s *Searching) Close() { s.work.Close() }

// Done is closed when Run has ended: nobody calls the plugin any more.
func (s *Searching) Done() <-chan struct{} { return s.done }

// Turn is one turn of Run, without the wait. Its error was posted.
func (s *Searching) Turn(ctx context.Context) (busy bool, err error) {
	items := s.work.Poll()
	if len(items) == 0 {
		return false, nil
	}
	return true, s.handle(ctx, items)
}

// Run goes on until Close.
func (s *Searching) Run(ctx context.Context) {
	defer close(s.done)
	for {
		items, ok := s.work.Take()
		if !ok || s.handle(ctx, items) != nil {
			return
		}
	}
}

// handle tells and asks; what is told waits for the next question.
func (s *Searching) handle(ctx context.Context, items []SearchWork) error {
	for _, w := range items {
		if w.Ask == nil {
			s.untold = append(s.untold, w.Event)
		}
		if w.Ask == nil && len(s.untold) < maxUntold {
			continue
		}
		if err := s.tell(ctx); err != nil {
			return err
		}
		if w.Ask == nil {
			continue
		}
		if err := s.ask(ctx, *w.Ask); err != nil {
			return err
		}
	}
	if s.Snapshots.Due(s.Searcher, s.told) {
		s.Snapshots.Take(ctx, s.Searcher, s.told)
	}
	return nil
}

func (s *Searching) tell(ctx context.Context) error {
	if len(s.untold) == 0 {
		return nil
	}
	defer s.timed("observing", s.Clock.Now())
	events := s.untold
	s.told = events[len(events)-1].Number
	err := s.Searcher.Observe(ctx, events)
	clear(events)
	s.untold = events[:0]
	return s.failed(ctx, err)
}

func (s *Searching) ask(ctx context.Context, a core.AskSearcher) error {
	defer s.timed("suggesting", s.Clock.Now())
	answer, err := s.Searcher.Suggest(ctx, points.Requests(s.Space, s.Seed, a))
	if err != nil {
		return s.failed(ctx, err)
	}
	e := &core.SuggestionsReceived{Ask: a.Ask, Status: core.SearcherStatus(answer.Status)}
	for i, p := range answer.Points[:min(len(answer.Points), a.Count)] {
		g, err := s.Suggestion(a.First+uint64(i), p)
		if err != nil {
			return s.failed(ctx, err)
		}
		e.Suggestions = append(e.Suggestions, g)
	}
	if s.scratch, err = recordable(s.scratch, e); err != nil {
		return s.failed(ctx, fmt.Errorf("searcher %s: its suggestions cannot be recorded: %w", s.Name, err))
	}
	s.Inbox.Post(e)
	return nil
}

// failed ends the experiment, saved, when the searcher is beyond help (B-077,
// B-107).
func (s *Searching) failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		s.Inbox.Post(&core.PluginFailed{Cause: core.Cause{Kind: core.CausePluginFailed, Text: err.Error()}})
	}
	return err
}

func (s *Searching) timed(what string, since time.Time) {
	if d := s.Clock.Since(since); d > s.Slow {
		s.Log.Slow("searcher "+s.Name+", "+what+",", d)
	}
}
