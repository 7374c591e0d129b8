package core

import "github.com/tunehost/tunehost/core/resource"

// TrialNo is a trial's number, from 0 in the order of creation.
type TrialNo uint32

// MetricID stands for a metric's name; see [MetricNamed]. 0 is none.
type MetricID uint32

// Metric is one reported number.
type Metric struct {
	ID    MetricID
	Value float64
}

// Event is something that happened. The set is closed: what is here is all that
// the machine can learn. Slices and texts in an event belong to the machine once
// it is applied.
type Event interface{ apply(*Machine) }

type (
	// ExperimentStarted is the first event of every record.
	ExperimentStarted struct{ Spec Spec }

	// HostStarted: a host process took the experiment up, the first or a
	// later one. Whatever ran under an earlier host is gone.
	HostStarted struct {
		// Wall is the time of day in nanoseconds since 1970; the events'
		// own times count running time.
		Wall int64
		PID  uint32
		Host string
		// Boot names the machine since it was started: as long as it is the same,
		// what programs have written is there, synced or not. "" is another one
		// each time.
		Boot string
	}

	// SettingsChanged: the experiment goes on with other settings (B-083).
	SettingsChanged struct{ Spec Spec }

	// NodeJoined: a machine offers its resources.
	NodeJoined struct {
		Node resource.Node
		// More: others follow at once, so that a trial which none of the
		// nodes so far can run is not given up yet.
		More bool
	}
	// NodeLeft: a machine is gone, and what ran there with it.
	NodeLeft struct{ ID uint32 }

	// SuggestionsReceived answers AskSearcher.
	SuggestionsReceived struct {
		Ask         uint64
		Suggestions []Suggestion
		Status      SearcherStatus
	}
	// TrialGiven: a trial that no searcher suggested: a point of the
	// experiment file, or one that the user added while it ran.
	TrialGiven struct {
		Suggestion Suggestion
		// Extra: it comes on top of the trials planned.
		Extra bool
		// Clone: it starts from Donor's newest checkpoint.
		Clone bool
		Donor TrialNo
	}

	// TrialLearned: the searcher shall know how a trial of another experiment
	// ended. It comes before any trial.
	TrialLearned struct {
		// From names the other experiment and its trial, for people.
		From string
		// Params is a JSON object, as it would be of a trial here.
		Params []byte
		// Metrics are the values that count; none of one that failed.
		Metrics   []Metric
		Iteration uint64
		// TrainNS is its training time.
		TrainNS int64
		Failed  bool
	}

	// MetricNamed: ID stands for Name from here on.
	MetricNamed struct {
		ID   MetricID
		Name string
	}

	// AttemptStarted: the trainable runs.
	AttemptStarted struct {
		Trial   TrialNo
		Attempt uint32
		PID     uint32
	}
	// ResultReported: one report of a running trial.
	ResultReported struct {
		Trial   TrialNo
		Attempt uint32
		// Iteration as reported; 0 where the machine shall count.
		Iteration uint64
		Metrics   []Metric
		// Checkpoint is where the trainable has put a checkpoint of this
		// result, or "".
		Checkpoint string
		Done       bool
		// Values is what was reported beside the metrics, opaque to the machine.
		Values []byte
		// Stop is why a rule of the experiment stops the trial with this
		// result, or nil; StopAll likewise for the whole experiment.
		Stop, StopAll *Cause
	}
	// AttemptEnded: the trainable runs no more, and nothing of it is left.
	AttemptEnded struct {
		Trial   TrialNo
		Attempt uint32
		// Cause is why it failed; none when it ended well or as it was told.
		Cause Cause
		// NeverStarted: running it again would not help (B-074).
		NeverStarted bool
		// RestoreFailed: its checkpoint could not be loaded (B-057).
		RestoreFailed bool
		// Damaged: its checkpoint is not what was saved, so that it was not
		// tried at all; no failure of the trial's.
		Damaged bool
		// Interrupted: its process was killed for another trial's sake; no failure
		// of this one's.
		Interrupted bool
	}

	// CheckpointSaved: a checkpoint is whole on disk.
	CheckpointSaved struct {
		Trial     TrialNo
		Attempt   uint32
		ID        uint32
		Iteration uint64
		Bytes     int64
	}
	// StateHeld: the state of a trial that pauses is in memory, as long as this
	// host lives.
	StateHeld struct {
		Trial     TrialNo
		Attempt   uint32
		ID        uint32
		Iteration uint64
	}
	// SaveFailed: a checkpoint that was asked for will not come.
	SaveFailed struct {
		Trial   TrialNo
		Attempt uint32
		ID      uint32
		Error   string
	}

	// ModelExported: a trial that ends well has left its model in one of the
	// formats asked for, or Error says why not. It comes before AttemptEnded.
	ModelExported struct {
		Trial   TrialNo
		Attempt uint32
		Format  string
		Bytes   int64
		Error   string
	}

	// SchedulerDecided is one answer of the scheduler.
	SchedulerDecided struct {
		Decisions []Decision
		Commands  []Command
		// Through is the number of the last observation that it answers.
		Through uint64
	}

	// StopRequested: the user ends one trial, or all of them.
	StopRequested struct {
		Trial TrialNo
		All   bool
		// Reason is what the user says, if anything.
		Reason string
	}
	// PauseRequested and UnpauseRequested: the user holds one trial, or all.
	PauseRequested struct {
		Trial TrialNo
		All   bool
	}
	UnpauseRequested struct {
		Trial TrialNo
		All   bool
	}
	// TrialReset: a trial in ERROR is to be run again (B-082).
	TrialReset struct {
		Trial TrialNo
		// Scratch: without its checkpoints.
		Scratch bool
		// Fresh: without its checkpoints and in a new directory; what it left in
		// the old one stays.
		Fresh bool
		// Unstarted: the trial is not in ERROR, but was ended before it had ever
		// started ([View].NeverStarted).
		Unstarted bool
		// Steered: it was asked of a host at work. Where the experiment is ending
		// by then, nothing is reset.
		Steered bool
	}
	// Interrupted: the host was told to leave; what runs goes on when the
	// experiment is taken up again (B-024).
	Interrupted struct{}
	// PluginFailed: a plugin that the experiment cannot do without is beyond
	// help; the experiment ends, saved (B-077, B-107).
	PluginFailed struct{ Cause Cause }

	// Ticked: time has passed; see SetTimer.
	Ticked struct{}
	// OfferMade and OfferWithdrawn: a caller would train one more trial, or
	// would no longer (Spec.Manual).
	OfferMade      struct{}
	OfferWithdrawn struct{}
)

// Suggestion is the assignment of a trial to be.
type Suggestion struct {
	// Params is a JSON object, opaque to the machine.
	Params []byte
	// Request, where not zero, replaces Spec.Request (B-038).
	Request *resource.Request
}

// SearcherStatus is what a searcher says beside its suggestions.
type SearcherStatus uint8

// Searcher statuses.
const (
	SearcherReady SearcherStatus = iota
	SearcherWaits
	SearcherExhausted
)

// Verdict is what happens to a trial after a result. The strongest wins.
type Verdict uint8

// Verdicts, from the weakest to the strongest (B-010).
const (
	Continue Verdict = iota
	Pause
	Stop
)

// Decision is the scheduler's verdict on one result.
type Decision struct {
	// Number is that of the result's [Observation].
	Number  uint64
	Verdict Verdict
	// Until: no decision is needed before this iteration.
	Until  uint64
	Reason string
}

// CommandKind is what a scheduler can order beside decisions.
type CommandKind uint8

// Commands.
const (
	// Resume queues a paused trial before new ones.
	Resume CommandKind = iota + 1
	// EndTrial ends a trial that waits or is paused.
	EndTrial
	// Exploit makes Trial go on from Donor's checkpoint with Params. The donor
	// may be the trial itself, which then changes its parameters; without Params
	// that is refused.
	Exploit
	// Resize changes the request of a trial that does not run, or from its next
	// pause on where the same answer has it paused (B-037).
	Resize
	// EndAll ends the experiment as finished; Trial says nothing (B-018).
	EndAll
)

// Command is an order of the scheduler.
type Command struct {
	Kind      CommandKind
	Trial     TrialNo
	Donor     TrialNo
	Iteration uint64
	Params    []byte
	Request   *resource.Request
	Reason    string
}
