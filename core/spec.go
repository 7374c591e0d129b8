package core

import (
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// Spec is what the machine needs of the experiment file and of the plugins that it names. It is
// recorded with [ExperimentStarted], so that a record can be replayed without them.
type Spec struct {
	// Rules is the version of the rules; it never changes after the beginning.
	Rules Rules `json:"rules,omitempty"`
	// Seed is the source of every random choice.
	Seed uint64 `json:"seed"`
	// Objectives has at least one entry.
	Objectives []Objective `json:"objectives"`
	// Trials is how many suggestions are run; negative: no limit.
	Trials int64 `json:"trials"`
	// Repeat is how many trials, its runs, each suggestion becomes (B-105); 0 and 1: one. It never changes
	// after the beginning.
	Repeat uint32 `json:"repeat,omitempty"`
	// Concurrency limits the trials that run at a time; 0: no limit.
	Concurrency uint32 `json:"concurrency,omitempty"`
	// Request is what each trial needs, unless it has a request of its own.
	Request resource.Request `json:"request"`
	// Overcommit lets one trial at a time start beyond the free resources (B-036).
	Overcommit bool `json:"overcommit,omitempty"`
	// WaitForResources lets a request that no node can meet wait (B-035).
	WaitForResources bool `json:"wait_for_resources,omitempty"`
	// Manual: trials are started only on offers, by a caller who trains them and keeps their state (ask
	// and tell). Nodes do not matter, and a paused trial continues at its iteration without a checkpoint.
	Manual bool `json:"manual,omitempty"`
	// Leases: trials run on leases of an engine, such as a cluster's queue; nodes that join do not matter.
	// nil: they run on the nodes that join.
	Leases *Leases `json:"leases,omitempty"`

	Stop       StopRules  `json:"stop"`
	Budget     Budget     `json:"budget"`
	Checkpoint Checkpoint `json:"checkpoint"`

	// Start is a checkpoint from elsewhere that every trial starts from (B-054); nil: none.
	Start *Start `json:"start,omitempty"`

	// Extended counts how often the experiment was given another searcher, scheduler or space; it selects
	// the valid ones outside of the machine.
	Extended uint32 `json:"extended,omitempty"`

	FailureRules

	// StrictMetrics: a result without a required metric fails its trial; otherwise it is a warning, once
	// per trial (B-014).
	StrictMetrics bool `json:"strict_metrics"`
	// Required are the metrics that each result must have.
	Required []Required `json:"required,omitempty"`

	PluginTraits
}

// FailureRules say what happens when trials fail.
type FailureRules struct {
	// Retries is how often a failed trial is run again; negative: always.
	Retries int32 `json:"retries,omitempty"`
	// Lost is how often a trial may lose its node before that counts as a failure of the trial (B-075).
	Lost uint32 `json:"lost,omitempty"`
	// FailFast: the first trial in ERROR stops the others (B-073).
	FailFast bool `json:"fail_fast,omitempty"`
	// FailRaise: the first trial in ERROR ends the experiment at once.
	FailRaise bool `json:"fail_raise,omitempty"`
}

// PluginTraits are what the plugins of the experiment have said about themselves.
type PluginTraits struct {
	// Independent says that suggestions do not depend on results (B-005).
	Independent bool `json:"independent,omitempty"`
	// Quiet says that the scheduler never decides anything and is not asked.
	Quiet bool `json:"quiet,omitempty"`
	// RunAhead is how many results may be reported beyond the decided ones.
	RunAhead uint32 `json:"run_ahead,omitempty"`
	// Saves says that the trainable can make a checkpoint on request.
	Saves bool `json:"saves,omitempty"`
	// Again are the plugins that are told results again that a restarted trial reports again (B-061).
	Again Audience `json:"again,omitempty"`
}

// Leases says how leases are requested and kept.
type Leases struct {
	// IdleNS is how long an unused lease is kept, as long as a trial may still come that could use it.
	IdleNS int64 `json:"idle_ns,omitempty"`
	// OwnRequests: each suggestion may bring a request of its own, so that it must exist before its lease
	// is requested. Otherwise the searcher is asked when a lease is granted.
	OwnRequests bool `json:"own_requests,omitempty"`
	// Most limits the leases that are held at a time, if Concurrency does not; 0: the core's own limit.
	Most uint32 `json:"most,omitempty"`
}

// Start is a checkpoint that does not come from a trial. The host keeps it as that of [StartRef].
type Start struct {
	// Iteration is the iteration of its last result; later results count from there.
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

// StopRules end a trial. Rules that need more than a comparison are evaluated before the result is
// recorded (ResultReported.Stop).
type StopRules struct {
	Metrics   []MetricRule `json:"metrics,omitempty"`
	Iteration uint64       `json:"iteration,omitempty"`
	// TimeNS is the trial's own training time.
	TimeNS int64 `json:"time_ns,omitempty"`
}

// MetricRule is met when the metric is at least Value, or with Below at most Value.
type MetricRule struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Below  bool    `json:"below,omitempty"`
}

// Budget ends the experiment.
type Budget struct {
	// TimeNS is running time, counted across resumes (B-026), without the time for which the user has paused
	// the experiment as a whole.
	TimeNS int64 `json:"time_ns,omitempty"`
	// TrialsFailed is how many trials may end in ERROR.
	TrialsFailed uint32 `json:"trials_failed,omitempty"`
	// Judged: an expression ends the experiment, too. The host evaluates it when JudgeBudget asks, and with each
	// result. Timed: it depends on the time.
	Judged bool `json:"judged,omitempty"`
	Timed  bool `json:"timed,omitempty"`
}

// Checkpoint says when checkpoints are made and which are kept.
type Checkpoint struct {
	// Every: at each iteration that is a multiple of it; 0: never.
	Every uint64 `json:"every,omitempty"`
	AtEnd bool   `json:"at_end,omitempty"`
	// Keep is how many of a trial's are kept: the best by Score, and also the newest (before RulesV2: the
	// newest counts as one of them). Without Score they are the newest. 0: all.
	Keep  uint32    `json:"keep,omitempty"`
	Score string    `json:"score,omitempty"`
	Mode  stat.Mode `json:"mode"`
	// DiskBytes limits the disk space of the checkpoints of all trials, except the newest of each trial;
	// 0: no limit.
	DiskBytes int64 `json:"disk_bytes,omitempty"`
	// PausesInMemory: the state of a trial that the scheduler pauses is held in memory, not saved as a
	// checkpoint (B-052).
	PausesInMemory bool `json:"pauses_in_memory,omitempty"`
}
