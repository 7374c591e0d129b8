package core

import "github.com/tunehost/tunehost/core/resource"

// Action is something to do. The set is closed. An action may be repeated after a crash; its executor
// recognises it by trial and attempt.
type Action interface{ action() }

type (
	// AskSearcher asks for Count suggestions, numbered from First. Every Tell before it must have reached
	// the searcher.
	AskSearcher struct {
		Ask   uint64
		First uint64
		Count int
	}
	// Tell tells an observation to those in To, in this order. The machine uses its memory again: what is kept
	// beyond the next call of Apply is a copy of the Observation.
	Tell struct{ Observation Observation }

	// StartAttempt runs the trial on the resources granted to it.
	StartAttempt struct {
		Trial     TrialNo
		Attempt   uint32
		Placement resource.Placement
		// Lease is the lease of the placement; 0: it was granted without one.
		Lease LeaseID
		// Restore is the checkpoint to start from; its ID is 0 for none. Memory: it is the state that is held
		// in memory.
		Restore CheckpointRef
		Memory  bool
	}
	// ContinueAttempt allows Credits more results.
	ContinueAttempt struct {
		Trial   TrialNo
		Attempt uint32
		Credits uint32
	}
	// RunAhead says that the result just reported is recorded, and that the scheduler owes a decision on
	// it. If that takes long, the trainable may continue training.
	RunAhead struct {
		Trial   TrialNo
		Attempt uint32
	}
	// SaveAttempt asks for a checkpoint of the result just reported.
	SaveAttempt struct {
		Trial     TrialNo
		Attempt   uint32
		ID        uint32
		Iteration uint64
	}
	// TakeCheckpoint keeps a checkpoint that the trainable has made at Path.
	TakeCheckpoint struct {
		Trial     TrialNo
		Attempt   uint32
		ID        uint32
		Iteration uint64
		// Path is "" for a checkpoint that was asked for; then Again is set.
		Path string
		// Again says that an earlier host may have begun to take or save it.
		Again bool
		// Rebooted says that the machine may have been restarted since, so that only synced data can be
		// trusted.
		Rebooted bool
	}
	// StopAttempt ends the attempt, after saving as SaveID unless that is 0.
	StopAttempt struct {
		Trial   TrialNo
		Attempt uint32
		SaveID  uint32
		// Paused says that the trial will continue later.
		Paused bool
		// Memory says that what is saved need not survive the host. The answer is StateHeld, or
		// CheckpointSaved if it was made to survive nevertheless.
		Memory bool
	}
	// KillAttempt ends an attempt that was told to stop, without waiting for it.
	KillAttempt struct {
		Trial   TrialNo
		Attempt uint32
	}
	// DropState drops the state of a trial in memory.
	DropState struct {
		Trial TrialNo
		ID    uint32
	}
	// DeleteCheckpoint deletes an unneeded checkpoint. It may be carried out only once all that was
	// recorded so far is safe.
	DeleteCheckpoint struct {
		Trial TrialNo
		ID    uint32
	}

	// RequestLease requests a lease from the engine, which answers when it grants the lease; until then
	// the lease waits in the engine's queue.
	RequestLease struct {
		Lease   LeaseID
		Request resource.Request
		// For is the trial that it is meant for; NoTrial: the first that needs one.
		For TrialNo
	}
	// ReleaseLease gives a lease back, or cancels its request. What the engine says about it afterwards is
	// ignored.
	ReleaseLease struct{ Lease LeaseID }
	// AdoptLeases names the leases that an earlier host has requested. The engine answers for each:
	// granted, pending, refused or lost. It releases all other leases that it has.
	AdoptLeases struct{ Leases []LeaseID }

	// JudgeBudget asks whether the expression of the budget holds. Until BudgetJudged answers, nothing starts.
	JudgeBudget struct{}
	// SetTimer asks for Ticked when the running time reaches At. It replaces an earlier timer.
	SetTimer struct{ At int64 }
	// Warn warns the user.
	Warn struct {
		// Trial is set if HasTrial.
		Trial    TrialNo
		HasTrial bool
		Cause    Cause
	}
	// Finish says that nothing is left to do.
	Finish struct {
		Outcome Outcome
		Cause   Cause
	}
)

func (AskSearcher) action()      {}
func (*Tell) action()            {}
func (StartAttempt) action()     {}
func (ContinueAttempt) action()  {}
func (RunAhead) action()         {}
func (SaveAttempt) action()      {}
func (TakeCheckpoint) action()   {}
func (StopAttempt) action()      {}
func (KillAttempt) action()      {}
func (DeleteCheckpoint) action() {}
func (DropState) action()        {}
func (RequestLease) action()     {}
func (ReleaseLease) action()     {}
func (AdoptLeases) action()      {}
func (JudgeBudget) action()      {}
func (SetTimer) action()         {}
func (Warn) action()             {}
func (Finish) action()           {}

// CheckpointRef names a checkpoint: a trial's ID-th, made at Iteration by an attempt, which is 0 for that of
// [StartRef].
type CheckpointRef struct {
	Trial     TrialNo
	ID        uint32
	Attempt   uint32
	Iteration uint64
}

// StartRef names the checkpoint that every trial starts from (Spec.Start).
func StartRef(s Start) CheckpointRef {
	return CheckpointRef{Trial: NoTrial, ID: 1, Iteration: s.Iteration}
}

// NoTrial is a number that no trial has.
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

// ObservationKind is the kind of an observation.
type ObservationKind uint8

// Observations, as plugins see them.
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
	// SawSearchEnded: no more trials will come, unless the user adds one or changes the settings. Trial is
	// not set.
	SawSearchEnded
)

// Observation is one thing that plugins are told. Numbers count from 1 without gaps; a plugin that is
// not told all observations sees gaps.
type Observation struct {
	Number    uint64
	Kind      ObservationKind
	To        Audience
	Trial     TrialNo
	Attempt   uint32
	Iteration uint64
	// Metrics are the result's. For SawCompleted they are empty; the listener finds the last ones in the
	// machine.
	Metrics []Metric
	// Values are what a result has beside its metrics, opaque to the machine.
	Values []byte
	// Due says that the scheduler owes a decision.
	Due bool
	// Again says that a restarted trial reported an iteration a second time (B-061).
	Again bool
	// Last says that Done came with it, or that a rule stopped the trial with it.
	Last bool
	// Retried says that the trial waits again (SawRequeued) because it failed; Cause says why.
	Retried bool
	// Outcome is the outcome of the experiment (SawEnd).
	Outcome Outcome
	// Cause is why the trial was paused, ended or requeued; nil for other observations. It must not be
	// changed.
	Cause *Cause
	// Runs is not 0 for an observation of a suggestion with several runs, from Trial on (Spec.Repeat).
	// Only the searcher receives these, and it receives nothing about single runs. The listener finds the
	// results of the runs in the machine.
	Runs uint32
	// Learned says that it is about a trial of another experiment. Such trials are numbered from the
	// highest number down, and are not in the machine: Params (when it is added) and Metrics and TrainNS
	// (of a result, and at its end) are here.
	Learned bool
	Params  []byte
	TrainNS int64
}

// Reason returns the cause as text for people, or at the end the outcome.
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
	// InterruptedByUser: it can be resumed later.
	InterruptedByUser
	// Failed: it could not continue.
	Failed
)

var outcomeNames = [...]string{Finished: "finished", StoppedByUser: "stopped", InterruptedByUser: "interrupted",
	Failed: "failed"}

// String returns the word that users see; "running" before the end.
func (o Outcome) String() string {
	if o == 0 {
		return "running"
	}
	return outcomeNames[o]
}
