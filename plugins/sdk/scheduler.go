package sdk

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A Scheduler decides which trials continue.
//
// Calls are not concurrent. Its answers must depend only on the [Problem], its options and the
// events so far, not on how they were batched.
type Scheduler interface {
	// Decide receives the events since the last call, in order. It returns one decision for each
	// ResultReported event that needs one (see Decision.Until), and any commands. It must not keep
	// the slice of events.
	Decide(ctx context.Context, events []Event) (Decisions, error)
}

// Decisions is the answer of a scheduler.
type Decisions struct {
	// Decisions are in the order of the events. A trial without a decision on its result continues.
	Decisions []Decision
	// Commands are executed after the decisions, in order.
	Commands []Command
}

// Verdict is what happens to a trial after a result.
type Verdict uint8

// Verdicts, from the weakest to the strongest. Of several verdicts the strongest counts (B-010).
const (
	Continue Verdict = iota
	Pause
	Stop
)

// A Decision is the verdict on one result.
type Decision struct {
	// Event is the Number of the ResultReported event.
	Event   uint64
	Verdict Verdict
	// Until (with Continue): no decision is needed before this iteration of the trial. Earlier
	// results continue without a decision and are not sent. 0: the next result needs a decision.
	Until uint64
	// Reason is a text for people: "worse than the best third at rung 9". Expected with Pause and
	// Stop.
	Reason string
}

// CommandKind is a kind of command.
type CommandKind uint8

const (
	// Resume: a paused trial is queued to continue, before new ones.
	Resume CommandKind = iota + 1
	// StopTrial: the trial ends. One that waits or is paused ends at once; one that runs is stopped.
	StopTrial
	// Exploit: Trial continues from Donor's checkpoint with Point. Donor may be Trial itself, which
	// then only changes its parameters.
	Exploit
	// Resize: change the resource request of a trial that is paused or that the same answer pauses.
	// The new request takes effect at the next start. A running trial keeps its resources, and the
	// user gets a warning.
	Resize
	// StopAll ends the whole experiment; Trial is ignored (B-018).
	StopAll
)

// A Command is an order that is not the answer to a result.
type Command struct {
	Kind  CommandKind
	Trial uint32
	// Donor and Iteration name the checkpoint to continue from (Exploit).
	Donor     uint32
	Iteration uint64
	// Point is the trial's new assignment (Exploit), or nil.
	Point space.Point
	// Resources is the new request, as in the experiment file, in JSON (Resize): {"cpu": 2}, or a
	// group, {"bundles": [{"cpu": 1}, {"cpu": 1}], "strategy": "spread"}.
	Resources []byte
	Reason    string
}

// SchedulerPlugin describes a scheduler to be served.
type SchedulerPlugin struct {
	Info
	// Open checks everything that can be checked and returns the scheduler. options is a JSON
	// object that conforms to Info.Options.
	Open func(p Problem, options []byte) (Scheduler, Traits, error)
}
