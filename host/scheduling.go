package host

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/queue"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// scheduling drives the scheduler: whatever happened while a call was under way
// goes in the next one.
type scheduling struct {
	scheduler plugin.Scheduler
	name      string
	inbox     *inbox.Inbox
	log       *hostlog.Log
	clock     clock.Clock
	slow      time.Duration
	params    func(space.Point) ([]byte, error)

	snapshots *snapshots

	work    *queue.Queue[scheduleWork]
	events  []sdk.Event // of the call that is under way
	scratch []byte
	done    chan struct{}
	// given counts what was put to work, and is the loop's; answered what was
	// answered.
	given    uint64
	answered atomic.Uint64
}

type scheduleWork struct {
	event sdk.Event
	due   bool
}

// put is for the loop.
func (s *scheduling) put(w scheduleWork) {
	s.given++
	s.work.Put(w)
}

func (s *scheduling) run(ctx context.Context) {
	defer close(s.done)
	for {
		items, ok := s.work.Take()
		if !ok || s.take(ctx, items) != nil {
			return
		}
		if s.work.Empty() {
			s.checkStuck()
		}
	}
}

// take handles what was put.
func (s *scheduling) take(ctx context.Context, items []scheduleWork) error {
	err := s.handle(ctx, items)
	if err == nil {
		s.answered.Add(uint64(len(items)))
	}
	return err
}

// handle ends the experiment, saved, when the scheduler is beyond help (B-077).
func (s *scheduling) handle(ctx context.Context, items []scheduleWork) error {
	for part := range slices.Chunk(items, maxDecided) {
		if err := s.decide(ctx, part); err != nil {
			if ctx.Err() == nil {
				s.inbox.Post(&core.PluginFailed{Error: err.Error()})
			}
			return err
		}
	}
	return nil
}

// maxDecided is how many events are decided at a time: the answer is one record.
const maxDecided = 1024

// checkStuck ends an experiment whose scheduler has answered all that it was told
// and keeps the last trials paused: they would wait for ever.
func (s *scheduling) checkStuck() {
	s.inbox.Add([]inbox.News{{Query: func(m *core.Machine) {
		if m.Stuck() && s.answered.Load() == s.given {
			s.inbox.Post(&core.PluginFailed{Error: fmt.Sprintf("scheduler %s keeps %d trials paused, and nothing is left that could wake them", s.name, m.Count(core.Paused))})
		}
	}}})
}

func (s *scheduling) decide(ctx context.Context, items []scheduleWork) error {
	clear(s.events)
	events := s.events[:0]
	var due []uint64
	for _, w := range items {
		events = append(events, w.event)
		if w.due {
			due = append(due, w.event.Number)
		}
	}
	s.events = events
	started := s.clock.Now()
	answer, err := s.scheduler.Decide(ctx, events)
	if err != nil {
		return err
	}
	if d := s.clock.Since(started); d > s.slow {
		s.log.Slow("scheduler "+s.name+", deciding,", d)
	}
	e, err := decided(due, answer, s.params)
	if err == nil {
		s.scratch, err = recordable(s.scratch, e)
	}
	if err != nil {
		return fmt.Errorf("scheduler %s: its command cannot be carried out: %w", s.name, err)
	}
	// Up to here the scheduler will be told again as what it has answered.
	e.Through = events[len(events)-1].Number
	if s.snapshots.due(s.scheduler, e.Through) {
		defer s.snapshots.take(ctx, s.scheduler, e.Through) // others wait for the decisions
	}
	if len(e.Decisions) > 0 || len(e.Commands) > 0 {
		s.inbox.Post(e)
	}
	return nil
}
