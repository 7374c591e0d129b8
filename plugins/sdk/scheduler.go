package sdk

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Scheduler decides which trials go on.
//
// Calls come one at a time. What it answers must depend only on the
// [Problem], its options and the events so far: not on how they were batched.
type Scheduler interface {
	// Decide tells what happened since the last call, in order, and answers
	// one decision for each ResultReported event among them that has one
	// due (see Decision.Until), and any commands. The slice of events is not kept.
	Decide(ctx context.Context, events []Event) (Decisions, error)
}

// Decisions is a scheduler's answer.
type Decisions struct {
	// Decisions are in the order of the events. A result without one
	// continues.
	Decisions []Decision
	// Commands are carried out after the decisions, in order.
	Commands []Command
}

// Verdict is what happens to a trial after a result.
type Verdict uint8

// Verdicts, from the weakest to the strongest: where several meet, the
// strongest counts (B-010).
const (
	Continue Verdict = iota
	Pause
	Stop
)

// Decision is the verdict on one result.
type Decision struct {
	// Event is the Number of the ResultReported event.
	Event   uint64
	Verdict Verdict
	// Until (with Continue): no decision is needed before this iteration of
	// the trial. Results before it go on without asking, and are not told.
	// 0: the next result is to be decided again.
	Until uint64
	// Reason says why, for people: "worse than the best third at rung 9".
	// Expected with Pause and Stop.
	Reason string
}

// CommandKind is what a scheduler can order beside decisions.
type CommandKind uint8

const (
	// Resume: a paused trial is queued to go on, before new ones.
	Resume CommandKind = iota + 1
	// StopTrial: a trial that waits or is paused is ended.
	StopTrial
	// Exploit: Trial goes on from Donor's checkpoint with Point. Donor may be
	// Trial itself, which then only changes its parameters.
	Exploit
	// Resize: the request for resources changes of a trial that is paused, or that the
	// same answer pauses. It holds for what starts then; a trial that runs on keeps what
	// it has, and the user is warned.
	Resize
	// StopAll ends the whole experiment; Trial says nothing (B-018).
	StopAll
)

// Command is an order that is not the answer to a result.
type Command struct {
	Kind  CommandKind
	Trial uint32
	// Donor and Iteration name the checkpoint to go on from (Exploit).
	Donor     uint32
	Iteration uint64
	// Point is the trial's new assignment (Exploit), or nil.
	Point space.Point
	// Resources is the new request, as the experiment file writes it, in
	// JSON (Resize): {"cpu": 2}, or a group,
	// {"bundles": [{"cpu": 1}, {"cpu": 1}], "strategy": "spread"}.
	Resources []byte
	Reason    string
}

// SchedulerPlugin is a scheduler as it is served.
type SchedulerPlugin struct {
	Info
	// Open checks everything that can be checked and makes the scheduler.
	// options is a JSON object that conforms to Info.Options.
	Open func(p Problem, options []byte) (Scheduler, Traits, error)
}
