package consult

import (
	"context"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/queue"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// maxWaiting is how many events wait before a searcher is told of them without being asked.
const maxWaiting = 1000

// SearchOptions are what a Searching needs.
type SearchOptions struct {
	Options
	Searcher plugin.Searcher
	Told     uint64 // the last event that it was told when it was opened
	Requests func(core.AskSearcher) []sdk.Request
	// Suggestion turns a point into a trial, or says why that fails.
	Suggestion func(index uint64, p space.Point) (core.Suggestion, error)
}

// Searching drives the searcher: it tells and asks in order.
type Searching struct {
	SearchOptions
	work    *queue.Queue[SearchWork]
	waiting []sdk.Event
	scratch []byte
	told    uint64 // the last event
	done    chan struct{}
}

// NewSearching returns a driver for Run or Turn.
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

// Flush starts work on all that was put.
func (s *Searching) Flush() { s.work.Flush() }

// Close lets Run end.
func (s *Searching) Close() { s.work.Close() }

// Done is closed when Run has ended: the plugin is not called any more.
func (s *Searching) Done() <-chan struct{} { return s.done }

// Turn is one turn of Run, without the wait. Its error was posted.
func (s *Searching) Turn(ctx context.Context) (busy bool, err error) {
	items := s.work.Poll()
	if len(items) == 0 {
		return false, nil
	}
	return true, s.handle(ctx, items)
}

// Run works until Close.
func (s *Searching) Run(ctx context.Context) {
	defer close(s.done)
	for {
		items, ok := s.work.Take()
		if !ok || s.handle(ctx, items) != nil {
			return
		}
	}
}

// handle tells and asks; events wait for the next question.
func (s *Searching) handle(ctx context.Context, items []SearchWork) error {
	for _, w := range items {
		if w.Ask == nil {
			s.waiting = append(s.waiting, w.Event)
		}
		if w.Ask == nil && len(s.waiting) < maxWaiting {
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
	if len(s.waiting) == 0 {
		return nil
	}
	started := s.Clock.Now()
	events := s.waiting
	s.told = events[len(events)-1].Number
	err := s.Searcher.Observe(ctx, events)
	clear(events)
	s.waiting = events[:0]
	if err == nil {
		s.timed("observing", started)
	}
	return s.failed(ctx, err)
}

func (s *Searching) ask(ctx context.Context, a core.AskSearcher) error {
	started := s.Clock.Now()
	answer, err := s.Searcher.Suggest(ctx, s.Requests(a))
	if err != nil {
		return s.failed(ctx, err)
	}
	s.timed("suggesting", started)
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

// failed ends the experiment, saved, if the searcher has failed for good (B-077, B-107).
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
