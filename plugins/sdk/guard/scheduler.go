package guard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Scheduler is an opened scheduler.
type Scheduler struct {
	mu     sync.Mutex
	impl   sdk.Scheduler
	traits sdk.Traits
	dims   int
}

// OpenScheduler opens a scheduler, from a snapshot if that is not empty.
func OpenScheduler(p sdk.SchedulerPlugin, problem sdk.Problem, opts, snapshot []byte) (*Scheduler, error) {
	s := &Scheduler{dims: len(problem.Space.Params)}
	err := protect("Open", func() (err error) {
		s.impl, s.traits, err = p.Open(problem, options(opts))
		return err
	})
	if err == nil && s.impl == nil {
		err = errNothing
	}
	if err == nil {
		err = restore(s.impl, snapshot)
	}
	return s, err
}

// Traits are what the scheduler said when it was opened.
func (s *Scheduler) Traits() sdk.Traits { return s.traits }

// Snapshots reports whether it makes snapshots.
func (s *Scheduler) Snapshots() bool {
	_, ok := s.impl.(sdk.Snapshotter)
	return ok
}

// Snapshot returns the scheduler's state.
func (s *Scheduler) Snapshot() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return snapshot(s.impl)
}

// Decide implements sdk.Scheduler.
func (s *Scheduler) Decide(ctx context.Context, events []sdk.Event) (answer sdk.Decisions, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = protect("Decide", func() (err error) {
		answer, err = s.impl.Decide(ctx, events)
		return err
	})
	if err == nil {
		err = CheckDecisions(s.dims, events, answer)
	}
	if err != nil {
		return sdk.Decisions{}, err
	}
	return answer, nil
}

// CheckDecisions checks an answer's shape: decisions are on results among the
// events, at most one on each, and what commands need is there. Whether the
// trials can be commanded so is the host's to check.
func CheckDecisions(dims int, events []sdk.Event, answer sdk.Decisions) error {
	if err := checkDecided(events, answer.Decisions); err != nil {
		return err
	}
	for _, c := range answer.Commands {
		if c.Kind < sdk.Resume || c.Kind > sdk.StopAll {
			return fmt.Errorf("it ordered the unknown command %d for trial %d", c.Kind, c.Trial)
		}
		if c.Kind == sdk.Exploit && c.Point != nil && len(c.Point) != dims {
			return fmt.Errorf("its point for trial %d has %d values; the space has %d parameters", c.Trial, len(c.Point), dims)
		}
	}
	return nil
}

func checkDecided(events []sdk.Event, decisions []sdk.Decision) error {
	if len(decisions) == 0 {
		return nil
	}
	done := make([]bool, len(events))
	for _, d := range decisions {
		if d.Verdict > sdk.Stop {
			return fmt.Errorf("it gave the unknown verdict %d on event %d", d.Verdict, d.Event)
		}
		i, ok := slices.BinarySearchFunc(events, d.Event, func(e sdk.Event, number uint64) int { return cmp.Compare(e.Number, number) })
		if !ok || events[i].Kind != sdk.ResultReported || done[i] {
			return fmt.Errorf("it decided on event %d, which is no result that it was just told of, or twice", d.Event)
		}
		done[i] = true
	}
	return nil
}
