package core

import "github.com/tunehost/tunehost/core/resource"

// Action is something to do. The set is closed. An action may be handed out
// again after a crash; whoever carries it out knows it by trial and attempt.
type Action interface{ action() }

type (
	// AskSearcher: Count suggestions are wanted, numbered from First. Every
	// Tell before it must have reached the searcher.
	AskSearcher struct {
		Ask   uint64
		First uint64
		Count int
	}
	// Tell: those in To shall hear of it, in this order.
	Tell struct{ Observation Observation }

	// StartAttempt: run the trial on what was granted to it.
	StartAttempt struct {
		Trial     TrialNo
		Attempt   uint32
		Placement resource.Placement
		// Restore is the checkpoint to go on from; its ID is 0 for none. Memory:
		// it is the state that is held in memory.
		Restore CheckpointRef
		Memory  bool
	}
	// ContinueAttempt: Credits more results may be reported.
	ContinueAttempt struct {
		Trial   TrialNo
		Attempt uint32
		Credits uint32
	}
	// RunAhead: the result just reported is recorded, and the scheduler owes a
	// decision on it. Where that takes long, the trainable may train on meanwhile.
	RunAhead struct {
		Trial   TrialNo
		Attempt uint32
	}
	// SaveAttempt: make a checkpoint of the result just reported.
	SaveAttempt struct {
		Trial     TrialNo
		Attempt   uint32
		ID        uint32
		Iteration uint64
	}
	// TakeCheckpoint: the trainable has made a checkpoint at Path; keep it.
	TakeCheckpoint struct {
		Trial     TrialNo
		Attempt   uint32
		ID        uint32
		Iteration uint64
		// Path is "" of one that was asked for; then it is Again.
		Path string
		// Again: an earlier host may have begun to, or to save it.
		Again bool
		// Rebooted: the machine may have been started again since, so that only
		// what was made to last can be trusted.
		Rebooted bool
	}
	// StopAttempt: end the attempt, after saving as SaveID where not 0.
	StopAttempt struct {
		Trial   TrialNo
		Attempt uint32
		SaveID  uint32
		// Paused: the trial is to go on later.
		Paused bool
		// Memory: what is saved need not survive the host. StateHeld answers, or
		// CheckpointSaved where it was made to survive all the same.
		Memory bool
	}
	// KillAttempt: an attempt that was told to stop has no time for it.
	KillAttempt struct {
		Trial   TrialNo
		Attempt uint32
	}
	// DropState: what is held of a trial in memory is not needed any more.
	DropState struct {
		Trial TrialNo
		ID    uint32
	}
	// DeleteCheckpoint: nobody needs it any more. It may be carried out only
	// once all that was recorded so far is safe.
	DeleteCheckpoint struct {
		Trial TrialNo
		ID    uint32
	}

	// SetTimer: send Ticked when the running time reaches At. It replaces an
	// earlier timer.
	SetTimer struct{ At int64 }
	// Warn: tell the user.
	Warn struct {
		// Trial is set where HasTrial.
		Trial    TrialNo
		HasTrial bool
		Cause    Cause
	}
	// Finish: nothing is left to do.
	Finish struct {
		Outcome Outcome
		Cause   Cause
	}
)

func (AskSearcher) action()      {}
func (Tell) action()             {}
func (StartAttempt) action()     {}
func (ContinueAttempt) action()  {}
func (RunAhead) action()         {}
func (SaveAttempt) action()      {}
func (TakeCheckpoint) action()   {}
func (StopAttempt) action()      {}
func (KillAttempt) action()      {}
func (DeleteCheckpoint) action() {}
func (DropState) action()        {}
func (SetTimer) action()         {}
func (Warn) action()             {}
func (Finish) action()           {}

// CheckpointRef names a checkpoint: a trial's ID-th, made at Iteration.
type CheckpointRef struct {
	Trial     TrialNo
	ID        uint32
	Iteration uint64
}

// StartRef names the checkpoint that every trial starts from (Spec.Start).
func StartRef(s Start) CheckpointRef {
	return CheckpointRef{Trial: NoTrial, ID: 1, Iteration: s.Iteration}
}

// NoTrial is no trial's number.
const NoTrial = ^TrialNo(0)

// Audience is a set of listeners.
type Audience uint8

// Listeners.
const (
	ToSearcher Audience = 1 << iota
	ToScheduler
	ToReporters

	ToAll = ToSearcher | ToScheduler | ToReporters
)

// ObservationKind says what there is to hear.
type ObservationKind uint8

// Observations, as plugins hear of them.
const (
	SawAdded ObservationKind = iota + 1
	SawStarted
	SawResult
	SawPaused
	SawCompleted
	SawFailed
	SawRemoved
	SawCheckpoint
	SawRequeued
	SawEnd
	// SawSearchEnded: no further trial will come, unless the user adds one or
	// changes the settings. Trial is not set.
	SawSearchEnded
)

// Observation is one thing that plugins hear of. Numbers count from 1 without
// gaps; a plugin that does not hear all of them sees gaps.
type Observation struct {
	Number    uint64
	Kind      ObservationKind
	To        Audience
	Trial     TrialNo
	Attempt   uint32
	Iteration uint64
	// Metrics are the result's; for SawCompleted they are left to the
	// listener, who finds the last ones in the machine.
	Metrics []Metric
	// Values are what a result has beside its metrics, opaque to the machine.
	Values []byte
	// Due: the scheduler owes a decision.
	Due bool
	// Again: a restarted trial reported an iteration a second time (B-061).
	Again bool
	// Last: Done was said with it, or a rule stopped the trial with it.
	Last bool
	// Retried: it waits again (SawRequeued) because it failed, and Cause says why.
	Retried bool
	// Outcome is that of the experiment (SawEnd).
	Outcome Outcome
	// Cause is why it was paused, has ended or is requeued; nil for all else. It is not
	// to be changed.
	Cause *Cause
	// Runs is not 0 where it is of a suggestion with several runs, those from
	// Trial on (Spec.Repeat). The searcher alone hears of it, and of nothing
	// that single runs do. The listener finds their results in the machine.
	Runs uint32
	// Learned: it is of a trial of another experiment. Such trials are numbered
	// from the highest number down, and are not in the machine: Params (when it
	// is added) and Metrics and TrainNS (at its end) are here.
	Learned bool
	Params  []byte
	TrainNS int64
}

// Reason is the cause for people; of the end, the outcome.
func (o *Observation) Reason() string {
	if o.Kind == SawEnd {
		return o.Outcome.String()
	}
	if o.Cause == nil {
		return ""
	}
	return o.Cause.String()
}

// Outcome is how an experiment ended.
type Outcome uint8

// Outcomes.
const (
	// Finished: all that was planned was done, or a budget was used up.
	Finished Outcome = iota + 1
	// StoppedByUser: the user ended it.
	StoppedByUser
	// InterruptedByUser: it can go on later.
	InterruptedByUser
	// Failed: it could not go on.
	Failed
)

var outcomeNames = [...]string{Finished: "finished", StoppedByUser: "stopped", InterruptedByUser: "interrupted", Failed: "failed"}

// String is the word that users see; "running" before the end.
func (o Outcome) String() string {
	if o == 0 {
		return "running"
	}
	return outcomeNames[o]
}
