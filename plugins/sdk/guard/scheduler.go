package guard

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A Scheduler is an opened scheduler.
type Scheduler struct {
	decider[sdk.Scheduler]
}

// OpenScheduler opens a scheduler, from a snapshot if it is not empty.
func OpenScheduler(p sdk.SchedulerPlugin, problem sdk.Problem, opts, snapshot []byte) (*Scheduler, error) {
	s := &Scheduler{}
	err := s.open(problem, snapshot, func() (sdk.Scheduler, sdk.Traits, error) {
		return p.Open(problem, options(opts))
	})
	return s, err
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

// CheckDecisions checks the shape of an answer: decisions refer to results among the events, at
// most one each, and commands have the required fields. The host checks whether the commands are
// possible.
func CheckDecisions(dims int, events []sdk.Event, answer sdk.Decisions) error {
	if err := checkDecided(events, answer.Decisions); err != nil {
		return err
	}
	for _, c := range answer.Commands {
		if c.Kind < sdk.Resume || c.Kind > sdk.StopAll {
			return fmt.Errorf("it sent the unknown command %d for trial %d", c.Kind, c.Trial)
		}
		if c.Kind == sdk.Exploit && c.Point != nil && len(c.Point) != dims {
			return fmt.Errorf("its point for trial %d has length %d; expected %d, one for each parameter", c.Trial,
				len(c.Point), dims)
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
		i, ok := slices.BinarySearchFunc(events, d.Event,
			func(e sdk.Event, number uint64) int { return cmp.Compare(e.Number, number) })
		if !ok || events[i].Kind != sdk.ResultReported || done[i] {
			return fmt.Errorf("it decided on event %d, which is not a result of this call or was decided already",
				d.Event)
		}
		done[i] = true
	}
	return nil
}
