package sdk

import "github.com/tunehost/tunehost/plugins/sdk/space"

// EventKind is the kind of an event of a trial.
type EventKind uint8

// The kinds of events, in the order in which a trial receives them.
const (
	// TrialAdded: a trial exists; Point holds its parameters.
	TrialAdded EventKind = iota + 1
	// TrialStarted: it runs, for the first time or again (Attempt counts the starts).
	TrialStarted
	// ResultReported: it reported; Iteration, Losses and Metrics are set.
	ResultReported
	// TrialPaused: it stopped running and may continue later.
	TrialPaused
	// TrialCompleted: it completed or was stopped; Losses are its last ones, empty if it never
	// reported.
	TrialCompleted
	// TrialFailed: it ended with an error and will not be retried.
	TrialFailed
	// TrialRemoved: it was removed while it was waiting or paused, or the experiment ended before its first result.
	TrialRemoved
	// CheckpointSaved: a checkpoint of it is complete on disk.
	CheckpointSaved
	// TrialRequeued: it failed or lost its node and will run again.
	TrialRequeued
	// ExperimentEnded: no more events follow.
	ExperimentEnded
	// SearchEnded: the searcher makes no more suggestions; further trials come only from the user.
	// Schedulers that collect trials need not wait for more.
	SearchEnded
)

// An Event is something that happened. Its Kind determines which fields are set.
type Event struct {
	// Number is the event's position in the history, from 1. A plugin that receives all events sees
	// no gaps.
	Number uint64
	Kind   EventKind
	// Trial is the trial's number, from 0 in the order of creation. Trials of other experiments,
	// which a searcher may receive first (TrialAdded, ResultReported for what it reported on the way,
	// then TrialCompleted or TrialFailed), are numbered from 2^32-1 downwards. If each suggestion
	// runs several times, a searcher receives all runs as one trial, with the mean of their losses,
	// and no events between TrialAdded and its end.
	Trial uint32
	// Attempt counts the starts of the trial, from 1.
	Attempt uint32
	// Iteration is the iteration of the result or checkpoint, from 1.
	Iteration uint64
	// Point is the trial's assignment (TrialAdded).
	Point space.Point
	// Losses has one value for each objective of the [Problem]. Smaller is better, whatever the
	// objective's mode. It is never NaN, and +Inf if the metric was missing, NaN or infinite.
	Losses []float64
	// Metrics are the reported numbers, flattened and sorted by name, including NaN and infinities.
	// Empty unless the plugin requested them ([Traits].Metrics).
	Metrics []Metric
	// Seconds is the trial's total training time so far.
	Seconds float64
	// SecondsTold says that Seconds was not measured: the caller of ask and tell has told the times with
	// the results, so that the same requests give the same Seconds. It is false if any part was measured, and
	// for trials of other experiments.
	SecondsTold bool
	// Again says that a restarted trial reports this iteration once more. Only plugins with the trait Again are told
	// such results.
	Again bool
	// Reason is a text for people (TrialCompleted, TrialFailed, TrialRemoved).
	Reason string
}

// A Metric is one reported number.
type Metric struct {
	Name  string
	Value float64
}

// Mode is the direction of an objective.
type Mode string

// The modes.
const (
	Min Mode = "min"
	Max Mode = "max"
)

// An Objective is a metric to minimise or maximise.
type Objective struct {
	Metric string
	Mode   Mode
}

// A Problem is the input of Open for a searcher or scheduler.
type Problem struct {
	// Space is the search space. Never nil.
	Space *space.Space
	// Objectives has at least one entry.
	Objectives []Objective
	// Seed is the plugin's own seed; two plugins of one experiment have different ones.
	Seed uint64
	// Trials is the planned number of trials; 0 if unbounded.
	Trials int
	// Concurrency is the maximum number of running trials; 0 if unbounded.
	Concurrency int
	// Request is the resource request of each trial, as in the experiment file, in JSON: {"cpu":
	// "2", "memory": "4294967296"}. Empty if it is unknown or has several bundles.
	Request []byte
	// Capacity is the total capacity when the experiment began, in the same form. It does not
	// change when the experiment continues on another machine. Empty if the host does not run the
	// trials.
	Capacity []byte
}
