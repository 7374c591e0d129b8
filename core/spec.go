package core

import (
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// Spec is what the machine must know of the experiment file and of the plugins
// that it names. It is recorded with [ExperimentStarted], so that a record can
// be replayed without either.
type Spec struct {
	// Rules is the version of the rules that hold; what it was at the beginning
	// holds for good.
	Rules Rules `json:"rules,omitempty"`
	// Seed is the source of every random choice.
	Seed uint64 `json:"seed"`
	// Objectives has at least one entry.
	Objectives []Objective `json:"objectives"`
	// Trials is how many suggestions are run; negative: no bound.
	Trials int64 `json:"trials"`
	// Repeat is how many trials each suggestion is run as, its runs (B-105); 0
	// and 1: one. What it was at the beginning holds for good.
	Repeat uint32 `json:"repeat,omitempty"`
	// Concurrency bounds the trials that run at a time; 0: no bound.
	Concurrency uint32 `json:"concurrency,omitempty"`
	// Request is what each trial needs unless it has a request of its own.
	Request resource.Request `json:"request"`
	// Overcommit: one trial at a time may be started beyond what is free (B-036).
	Overcommit bool `json:"overcommit,omitempty"`
	// WaitForResources: a request that no node can ever meet waits (B-035).
	WaitForResources bool `json:"wait_for_resources,omitempty"`
	// Manual: trials are started only on offers, by a caller who trains
	// them himself and keeps their state (ask and tell); nodes do not matter,
	// and a trial that was paused goes on at its iteration without a
	// checkpoint.
	Manual bool `json:"manual,omitempty"`

	Stop       StopRules  `json:"stop"`
	Budget     Budget     `json:"budget"`
	Checkpoint Checkpoint `json:"checkpoint"`

	// Start is a checkpoint from elsewhere that every trial starts from (B-054);
	// nil: none.
	Start *Start `json:"start,omitempty"`

	// Extended counts how often the experiment was given another searcher,
	// scheduler or space; it says which of them hold, outside of the machine.
	Extended uint32 `json:"extended,omitempty"`

	// Retries is how often a failed trial is run again; negative: always.
	Retries int32 `json:"retries,omitempty"`
	// Lost is how often a trial may lose its node before that counts as a failure
	// of the trial (B-075).
	Lost uint32 `json:"lost,omitempty"`
	// FailFast: the first trial in ERROR stops the others (B-073).
	FailFast bool `json:"fail_fast,omitempty"`
	// FailRaise: the first trial in ERROR ends the experiment at once.
	FailRaise bool `json:"fail_raise,omitempty"`

	// StrictMetrics: a result without a required metric fails its trial;
	// otherwise it is a warning, once a trial (B-014).
	StrictMetrics bool `json:"strict_metrics"`
	// Required are the metrics that each result must have.
	Required []Required `json:"required,omitempty"`

	// Independent: suggestions do not depend on results (B-005).
	Independent bool `json:"independent,omitempty"`
	// Quiet: the scheduler never decides anything and is not asked.
	Quiet bool `json:"quiet,omitempty"`
	// RunAhead is how many results may be reported beyond decided ones.
	RunAhead uint32 `json:"run_ahead,omitempty"`
	// Saves: the trainable can make a checkpoint when it is asked to.
	Saves bool `json:"saves,omitempty"`
}

// Start is a checkpoint that is none of the trials'. The host has it as that of
// [StartRef].
type Start struct {
	// Iteration is that of its last result; results go on after it.
	Iteration uint64 `json:"iteration,omitempty"`
}

// Objective is a metric and its direction.
type Objective struct {
	Metric string    `json:"metric"`
	Mode   stat.Mode `json:"mode"`
}

// Required is a metric that results must have, and who needs it.
type Required struct {
	Metric string `json:"metric"`
	By     string `json:"by"`
}

// StopRules end a trial. Rules that need more than comparing are evaluated
// before the result is recorded (ResultReported.Stop).
type StopRules struct {
	Metrics   []MetricRule `json:"metrics,omitempty"`
	Iteration uint64       `json:"iteration,omitempty"`
	// TimeNS is the trial's own training time.
	TimeNS int64 `json:"time_ns,omitempty"`
}

// MetricRule is met when the metric is at least Value, or at most Value where
// Below.
type MetricRule struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Below  bool    `json:"below,omitempty"`
}

// Budget ends the experiment.
type Budget struct {
	// TimeNS is running time, counted across resumes (B-026).
	TimeNS int64 `json:"time_ns,omitempty"`
	// TrialsFailed is how many trials may end in ERROR.
	TrialsFailed uint32 `json:"trials_failed,omitempty"`
}

// Checkpoint says when checkpoints are made and which are kept.
type Checkpoint struct {
	// Every: at each iteration that is a multiple of it; 0: not.
	Every uint64 `json:"every,omitempty"`
	AtEnd bool   `json:"at_end,omitempty"`
	// Keep is how many of a trial's are kept: the best by Score, and the newest
	// besides (before RulesV2: the newest is one of the number). Without Score
	// they are the newest. 0: all.
	Keep  uint32    `json:"keep,omitempty"`
	Score string    `json:"score,omitempty"`
	Mode  stat.Mode `json:"mode"`
	// DiskBytes is the most that the checkpoints of all trials may take, as
	// far as they are not the newest of a trial; 0: no bound.
	DiskBytes int64 `json:"disk_bytes,omitempty"`
	// PausesInMemory: the state of a trial that the scheduler pauses is held in
	// memory, and not made a checkpoint of (B-052).
	PausesInMemory bool `json:"pauses_in_memory,omitempty"`
}
