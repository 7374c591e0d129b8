package consult

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/queue"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// ScheduleOptions are what a Scheduling needs.
type ScheduleOptions struct {
	Options
	Scheduler plugin.Scheduler
	// Params returns the parameters that a command gives a trial, of a scheduler that has heard all events through one.
	Params func(c sdk.Command, through uint64, known Known) ([]byte, error)
	// Known is what the scheduler knows of an earlier host, and of this one as it is told; nil: Params needs none.
	Known Known
	// Trials is how many there are.
	Trials int
	// Rules are those of the experiment.
	Rules core.Rules
}

// Scheduling drives the scheduler: events that happen during a call go into the next one.
type Scheduling struct {
	ScheduleOptions
	work    *queue.Queue[ScheduleWork]
	events  []sdk.Event // of the current call
	told    toldTrials
	scratch []byte
	done    chan struct{}
	// given counts the work that was put, and belongs to the loop; answered counts the work that was
	// answered.
	given    uint64
	answered atomic.Uint64
}

// NewScheduling returns a driver for Run or Turn.
func NewScheduling(o ScheduleOptions) *Scheduling {
	return &Scheduling{ScheduleOptions: o, work: queue.New[ScheduleWork](), told: make(toldTrials, o.Trials),
		done: make(chan struct{})}
}

// Put adds work without waking it; Flush does. Only the loop calls it.
func (s *Scheduling) Put(w ScheduleWork) {
	s.given++
	s.work.Put(w)
}

// Flush starts work on all that was put.
func (s *Scheduling) Flush() { s.work.Flush() }

// Close lets Run end.
func (s *Scheduling) Close() { s.work.Close() }

// Done is closed when Run has ended: the plugin is not called any more.
func (s *Scheduling) Done() <-chan struct{} { return s.done }

// Idle reports that nothing waits for a decision.
func (s *Scheduling) Idle() bool { return s.work.Empty() }

// Turn is one turn of Run, without the wait. Its error was posted.
func (s *Scheduling) Turn(ctx context.Context) (busy bool, err error) {
	items := s.work.Poll()
	if len(items) == 0 {
		return false, nil
	}
	return true, s.take(ctx, items)
}

// Run works until Close.
func (s *Scheduling) Run(ctx context.Context) {
	defer close(s.done)
	for {
		items, ok := s.work.Take()
		if !ok || s.take(ctx, items) != nil {
			return
		}
		if s.Idle() {
			s.CheckStuck()
		}
	}
}

// take handles what was put.
func (s *Scheduling) take(ctx context.Context, items []ScheduleWork) error {
	err := s.handle(ctx, items)
	if err == nil {
		s.answered.Add(uint64(len(items)))
	}
	return err
}

// handle ends the experiment, saved, if the scheduler has failed for good (B-077).
func (s *Scheduling) handle(ctx context.Context, items []ScheduleWork) error {
	for part := range slices.Chunk(items, maxDecided) {
		if err := s.decide(ctx, part); err != nil {
			if ctx.Err() == nil {
				s.Inbox.Post(&core.PluginFailed{Cause: core.Cause{Kind: core.CausePluginFailed, Text: err.Error()}})
			}
			return err
		}
	}
	return nil
}

// maxDecided is how many events are decided at a time: the answer is one record.
const maxDecided = 1024

// CheckStuck ends an experiment whose scheduler has answered all events and keeps the last trials
// paused: they would wait for ever. The loop asks this after it has read the answers up to now. It has not read later
// ones, which may wake trials.
func (s *Scheduling) CheckStuck() {
	answered := s.answered.Load()
	s.Inbox.Add([]inbox.Item{{Query: func(m *core.Machine) {
		if m.Stuck() && answered == s.given {
			stuck := core.Cause{Kind: core.CauseSchedulerStuck, By: s.Name, Count: uint32(m.Count(core.Paused))}
			s.Inbox.Post(&core.PluginFailed{Cause: stuck})
		}
	}}})
}

// missReason warns, once, of a scheduler that stops or pauses a trial without a reason.
func (s *Scheduling) missReason(answer *sdk.Decisions) {
	missing := func(d sdk.Decision) bool { return d.Verdict != sdk.Continue && strings.TrimSpace(d.Reason) == "" }
	if slices.ContainsFunc(answer.Decisions, missing) {
		s.Log.Once("no reason", "scheduler "+s.Name+": it stops or pauses a trial without a reason: each such "+
			"decision needs one, a sentence for the user; this is reported only once")
	}
}

func (s *Scheduling) decide(ctx context.Context, items []ScheduleWork) error {
	clear(s.events)
	events := s.events[:0]
	var due []uint64
	for i := range items {
		w := &items[i]
		s.Known.Hear(w)
		events = append(events, w.Event)
		if w.Due {
			due = append(due, w.Event.Number)
		}
	}
	s.events = events
	started := s.Clock.Now()
	answer, err := s.Scheduler.Decide(ctx, events)
	if err != nil {
		return err
	}
	if d := s.Clock.Since(started); d > s.Slow {
		s.Log.Slow("scheduler "+s.Name+", deciding,", d)
	}
	s.told.hear(events)
	s.told.pauses(events, &answer)
	err = s.told.check(answer.Commands, s.Rules, func(kind, text string) {
		s.Log.Once("misfit "+kind, "scheduler "+s.Name+": "+text)
	})
	s.missReason(&answer)
	var e *core.SchedulerDecided
	if err == nil {
		e, err = Decided(due, answer, func(c sdk.Command) ([]byte, error) {
			return s.Params(c, events[len(events)-1].Number, s.Known)
		})
	}
	if err == nil {
		s.scratch, err = recordable(s.scratch, e)
	}
	if err != nil {
		return fmt.Errorf("scheduler %s: its command cannot be carried out: %w", s.Name, err)
	}
	// The scheduler will be told again up to here, as this is what it has answered.
	e.Through = events[len(events)-1].Number
	if s.Snapshots.Due(s.Scheduler, e.Through) {
		defer s.Snapshots.Take(ctx, s.Scheduler, e.Through) // others wait for the decisions
	}
	if len(e.Decisions) > 0 || len(e.Commands) > 0 {
		s.Inbox.Post(e)
	}
	return nil
}
