package schedtest

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Checked wraps the scheduler and passes one event at a time: check receives each event and its
// answer, and its error ends the run. It is for second implementations that cannot predict random
// choices, but can check that they are possible.
func Checked(s sdk.Scheduler, check func(sdk.Event, sdk.Decisions) error) sdk.Scheduler {
	return checked{s, check}
}

type checked struct {
	sdk.Scheduler
	check func(sdk.Event, sdk.Decisions) error
}

func (s checked) Decide(ctx context.Context, events []sdk.Event) (all sdk.Decisions, _ error) {
	for i, e := range events {
		out, err := s.Scheduler.Decide(ctx, events[i:i+1])
		if err != nil {
			return all, err
		}
		if err := s.check(e, out); err != nil {
			return all, fmt.Errorf("event %+v: %w", e, err)
		}
		all.Decisions, all.Commands = append(all.Decisions, out.Decisions...), append(all.Commands, out.Commands...)
	}
	return all, nil
}

// Count returns the number of commands of the kind.
func (h History) Count(kind sdk.CommandKind) (n int) {
	for _, c := range h.Out.Commands {
		if c.Kind == kind {
			n++
		}
	}
	return n
}
