package sdk

import "github.com/tunehost/tunehost/plugins/sdk/space"

// EventKind says what happened to a trial.
type EventKind uint8

// The kinds of events, in the order in which a trial meets them.
const (
	// TrialAdded: a trial exists; Point holds its parameters.
	TrialAdded EventKind = iota + 1
	// TrialStarted: it runs, for the first time or again (Attempt counts).
	TrialStarted
	// ResultReported: it reported; Iteration, Losses and Metrics are set.
	ResultReported
	// TrialPaused: it stopped running and may go on later.
	TrialPaused
	// TrialCompleted: it ended well or was stopped; Losses are its last.
	// Losses are empty when it never reported.
	TrialCompleted
	// TrialFailed: it ended in an error that will not be retried.
	TrialFailed
	// TrialRemoved: it was taken away while it was waiting or paused.
	TrialRemoved
	// CheckpointSaved: a checkpoint of it is whole on disk.
	CheckpointSaved
	// TrialRequeued: it failed or lost its node and will be run again.
	TrialRequeued
	// ExperimentEnded: nothing will follow.
	ExperimentEnded
	// SearchEnded: the searcher has no more to suggest; further trials come
	// only from the user. Schedulers that gather trials need not wait for more.
	SearchEnded
)

// Event is one thing that happened. Which fields are set depends on Kind.
type Event struct {
	// Number is the event's position in the history, from 1, without gaps
	// for the plugin that is told all of it.
	Number uint64
	Kind   EventKind
	// Trial is the trial's number, from 0 in the order of creation. Trials of
	// other experiments, which a searcher may be told of before anything else
	// (TrialAdded, then TrialCompleted or TrialFailed), are numbered from
	// 2^32-1 down. Where each suggestion is run several times, a searcher is
	// told of all runs as of one trial, with the mean of their losses, and of
	// nothing between TrialAdded and its end.
	Trial uint32
	// Attempt counts the starts of the trial, from 1.
	Attempt uint32
	// Iteration is the result's or checkpoint's iteration, from 1.
	Iteration uint64
	// Point is the trial's assignment (TrialAdded).
	Point space.Point
	// Losses has one value for each objective of the [Problem]: smaller is
	// better whatever the objective's mode, never NaN, and +Inf where the
	// metric was missing, NaN or infinite.
	Losses []float64
	// Metrics are the reported numbers, flattened, as reported (NaN and
	// infinities included), sorted by name. Empty unless the plugin asked
	// for them ([Traits].Metrics).
	Metrics []Metric
	// Seconds is the trial's own training time so far.
	Seconds float64
	// Reason says why, for people (TrialCompleted, TrialFailed, TrialRemoved).
	Reason string
}

// Metric is one reported number.
type Metric struct {
	Name  string
	Value float64
}

// Mode is the direction of an objective.
type Mode string

// The two directions.
const (
	Min Mode = "min"
	Max Mode = "max"
)

// Objective is a metric to be made small or large.
type Objective struct {
	Metric string
	Mode   Mode
}

// Problem is what a searcher or scheduler is opened with.
type Problem struct {
	// Space is what may be varied. Never nil.
	Space *space.Space
	// Objectives has at least one entry.
	Objectives []Objective
	// Seed is the plugin's own: two plugins of one experiment have
	// different ones.
	Seed uint64
	// Trials is how many trials are planned; 0 when unbounded.
	Trials int
	// Concurrency is how many may run at a time; 0 when not bounded.
	Concurrency int
	// Request is what each trial asks for, as the experiment file writes it, in
	// JSON: {"cpu": "2", "memory": "4294967296"}. Empty where that is not known, or
	// is several bundles.
	Request []byte
	// Capacity is what there was in all when the experiment began, in the same
	// form: it stays so for the plugin, whatever machine the experiment goes on
	// with. Empty where trials are run by somebody else.
	Capacity []byte
}
