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

// Event is something that happened. The set is closed: the machine learns nothing else. Slices and
// texts in an event belong to the machine once it is applied.
type Event interface{ apply(*Machine) }

type (
	// ExperimentStarted is the first event of every record.
	ExperimentStarted struct{ Spec Spec }

	// HostStarted: a host process took over the experiment, the first or a later one. Everything that ran
	// under an earlier host is gone.
	HostStarted struct {
		// Wall is the time of day in nanoseconds since 1970; the events' own times count running time.
		Wall int64
		PID  uint32
		Host string
		// Boot identifies the machine since its last start: as long as it is the same, files that programs
		// have written exist, synced or not. "" differs from every other value.
		Boot string
	}

	// SettingsChanged: the experiment continues with other settings (B-083).
	SettingsChanged struct{ Spec Spec }

	// NodeJoined: a machine offers its resources.
	NodeJoined struct {
		Node resource.Node
		// More says that other nodes follow at once, so that a trial that does not fit the nodes so far is not
		// given up yet.
		More bool
	}
	// NodeLeft: a machine is gone, with everything that ran there.
	NodeLeft struct{ ID uint32 }

	// SuggestionsReceived answers AskSearcher.
	SuggestionsReceived struct {
		Ask         uint64
		Suggestions []Suggestion
		Status      SearcherStatus
	}
	// TrialGiven: a trial that did not come from the searcher: a point of the experiment file, or one that
	// the user added during the run.
	TrialGiven struct {
		Suggestion Suggestion
		// Extra says that it comes on top of the planned trials.
		Extra bool
		// Clone says that it starts from Donor's newest checkpoint.
		Clone bool
		Donor TrialNo
	}

	// TrialLearned: the searcher is told how a trial of another experiment ended. It comes before any
	// trial.
	TrialLearned struct {
		// From names the other experiment and its trial, for people.
		From string
		// Params is a JSON object, as for a trial of this experiment.
		Params []byte
		// Metrics are the values that count; none for a failed trial.
		Metrics   []Metric
		Iteration uint64
		// TrainNS is its training time.
		TrainNS int64
		Failed  bool
		// Results are what it reported on the way, so that a searcher can tell a value of a trial that was
		// stopped early from one of a complete trial; none in records of earlier versions.
		Results []LearnedResult
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
		// Told says that the caller tells the times of the attempt, so that nobody measures them.
		Told bool
	}
	// ResultReported: one report of a running trial.
	ResultReported struct {
		Trial   TrialNo
		Attempt uint32
		// Iteration as reported; 0 if the machine must count.
		Iteration uint64
		Metrics   []Metric
		// Checkpoint is where the trainable has put a checkpoint of this
		// result, or "".
		Checkpoint string
		Done       bool
		// Values is what was reported beside the metrics, opaque to the machine.
		Values []byte
		// Stop is why a rule of the experiment stops the trial with this result, or nil; StopAll is the same
		// for the whole experiment.
		Stop, StopAll *Cause
	}
	// AttemptEnded: the trainable has ended, and nothing of it is left.
	AttemptEnded struct {
		Trial   TrialNo
		Attempt uint32
		// Cause is why it failed; none if it ended well or as it was told. CauseNoResult with a Text is a good end,
		// too: it says what the program did instead of reporting.
		Cause Cause
		// NeverStarted says that running it again would not help (B-074).
		NeverStarted bool
		// RestoreFailed says that its checkpoint could not be loaded (B-057).
		RestoreFailed bool
		// Damaged says that its checkpoint is not what was saved, so that loading was not tried; this is not a
		// failure of the trial.
		Damaged bool
		// Interrupted says that its process was killed because of another trial, or with a Cause that its worker
		// was silent; this is not a failure of the trial.
		Interrupted bool
	}

	// CheckpointSaved: a checkpoint is complete on disk.
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
		// GivenUp says that the host was told to end, and has not waited for it any longer.
		GivenUp bool
	}

	// ModelExported: a trial that ends well has left its model in one of the requested formats, or Error
	// says why not. It comes before AttemptEnded.
	ModelExported struct {
		Trial   TrialNo
		Attempt uint32
		Format  string
		Bytes   int64
		Error   string
		// GivenUp says that the host was told to end, and has not waited for the model any longer.
		GivenUp bool
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
		// Reason is the user's reason, if any.
		Reason string
	}
	// PauseRequested and UnpauseRequested: the user pauses or resumes one trial, or all.
	PauseRequested struct {
		Trial TrialNo
		All   bool
	}
	UnpauseRequested struct {
		Trial TrialNo
		All   bool
	}
	// TrialReset: the user wants to run a trial in ERROR again (B-082).
	TrialReset struct {
		Trial TrialNo
		// Scratch drops its checkpoints.
		Scratch bool
		// Fresh drops its checkpoints and uses a new directory; files in the old one stay.
		Fresh bool
		// Unstarted says that the trial is not in ERROR, but ended before it ever started
		// ([View].NeverStarted).
		Unstarted bool
		// Steered says that a running host was asked. If the experiment is ending by then, nothing is reset.
		Steered bool
	}
	// Interrupted: the host was told to leave; running trials continue when the experiment is resumed
	// (B-024).
	Interrupted struct{}
	// PluginFailed: a plugin that the experiment needs has failed for good; the experiment ends, saved
	// (B-077, B-107).
	PluginFailed struct{ Cause Cause }

	// BudgetJudged answers JudgeBudget: Cause is that the expression of the budget holds, or nil.
	BudgetJudged struct{ Cause *Cause }

	// Ticked: time has passed; see SetTimer.
	Ticked struct{}
	// OfferMade and OfferWithdrawn: a caller offers to train one more trial, or withdraws an offer
	// (Spec.Manual).
	OfferMade      struct{}
	OfferWithdrawn struct{}

	// LeaseGranted: the resources of a lease are available, until it is released.
	LeaseGranted struct {
		Lease LeaseID
		// Bundles are in the order of the request's.
		Bundles []LeasedBundle
		// Until is when it ends at the latest, in nanoseconds since 1970; 0: unknown.
		Until int64
	}
	// LeasePending: the lease waits in the engine's queue. Why is for people.
	LeasePending struct {
		Lease LeaseID
		Why   string
	}
	// LeaseRefused: the request can never be met.
	LeaseRefused struct {
		Lease LeaseID
		Why   string
	}
	// LeaseEnding: the lease will be taken away at the time of day At, in nanoseconds since 1970; 0: soon. Why
	// is for people; a second notice may bring it.
	LeaseEnding struct {
		Lease LeaseID
		At    int64
		Why   string
	}
	// LeaseLost: the lease is gone, with everything that ran on it.
	LeaseLost struct {
		Lease LeaseID
		Why   string
	}
	// LeaseRouted: the node of a lease, which does not see the experiment's directory, writes checkpoints to the
	// experiment's storage itself if it is Direct; else they go over its connection to the host, and Why says, for
	// people, why it cannot.
	LeaseRouted struct {
		Lease  LeaseID
		Direct bool
		Why    string
	}
)

// LeaseID is the number of a lease, from 1 in the order of the requests. It is recorded before the
// lease is requested, and never used again. 0 is none.
type LeaseID uint32

// LeasedBundle is where one bundle of a lease is placed.
type LeasedBundle struct {
	// Node is the name of the node, for the engine and for people.
	Node string
	// Devices are the GPUs granted there, if any.
	Devices []string
}

// Suggestion is the assignment of a future trial.
type Suggestion struct {
	// Params is a JSON object, opaque to the machine.
	Params []byte
	// Request, if not zero, replaces Spec.Request (B-038).
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
	// Number is the number of the result's [Observation].
	Number  uint64
	Verdict Verdict
	// Until says that no decision is needed before this iteration.
	Until  uint64
	Reason string
}

// CommandKind is what a scheduler can order beside decisions.
type CommandKind uint8

// Commands.
const (
	// Resume queues a paused trial before new ones.
	Resume CommandKind = iota + 1
	// EndTrial ends a trial. Before [RulesV8] it ended only one that waits or is paused.
	EndTrial
	// Exploit lets Trial continue from Donor's checkpoint with Params. The donor may be the trial itself,
	// which then changes its parameters; without Params that is refused.
	Exploit
	// Resize changes the request of a trial that does not run, or, if the same answer pauses it, from that
	// pause on (B-037).
	Resize
	// EndAll ends the experiment as finished; Trial is not used (B-018).
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

// LearnedResult is a result of a trial of another experiment, with the training time until then.
type LearnedResult struct {
	Iteration uint64
	Metrics   []Metric
	TrainNS   int64
}
