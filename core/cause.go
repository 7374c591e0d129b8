package core

// CauseKind says what kind of thing happened to a trial or to the experiment: why it ended, was
// paused, was requeued, or was refused something. The set is closed. The record has these numbers: a
// new kind is added at the end, and no number is reused.
type CauseKind uint8

// CauseNone: there is no cause, or none was given.
const CauseNone CauseKind = 0

// Causes of a successful end or a stop.
const (
	// CauseCompleted: the trainable has ended by itself.
	CauseCompleted CauseKind = iota + 1
	// CauseNothingLeft: the trial took over the checkpoint of Iteration of Trial, and its trainable ended
	// without a result: nothing was left to train.
	CauseNothingLeft
	// CauseMetricReached: a result has met the file's rule that Metric reaches Value, in the direction of
	// the rule. The metric may be one of the host's own fields.
	CauseMetricReached
	// CauseMetricAbove: a result has met the rule {above: Value} on Metric.
	CauseMetricAbove
	// CauseMetricBelow: a result has met the rule {below: Value} on Metric.
	CauseMetricBelow
	// CauseIterationReached: the trial has reached Iteration, the last one that the file allows.
	CauseIterationReached
	// CauseTimeReached: the trial has trained as long as the file allows.
	CauseTimeReached
	// CauseExpression: stop.when holds for a result. Text is the expression.
	CauseExpression
	// CausePlateau: the trial's last values of Metric are level (stop.plateau).
	CausePlateau
	// CauseScheduler: the scheduler, or the plugin of stop.plugin, has decided or ordered a stop, a pause
	// or the end of the experiment. Text is its own reason.
	CauseScheduler
	// CauseUser: the user has stopped the trial, or all of them. Text is the user's reason, if any.
	CauseUser
)

// Causes of pauses, beside CauseScheduler.
const (
	// CauseHeld: the user has paused the trial, or all of them.
	CauseHeld CauseKind = iota + 20
)

// Causes of failed attempts, and with the last of them of failed trials. If the trial is retried from
// something else than its newest checkpoint, Then says from what.
const (
	// CauseTrainable: the trainable has failed: its program, its process, or a call of the plugin. Text is
	// its message, or how it ended.
	CauseTrainable CauseKind = iota + 30
	// CauseSilent: the trial reported nothing for NS, its deadline, and was killed.
	CauseSilent
	// CauseNotBegun: the trainable By did not say within NS that the trial had started, and was killed.
	CauseNotBegun
	// CauseInvalidReport: the trainable broke a rule in a report. Text says which.
	CauseInvalidReport
	// CauseNoDirectory: the trial's directory could not be made. Text is the error.
	CauseNoDirectory
	// CauseDamaged: the checkpoint that the trial was to start from is not what was saved. Text says what
	// is wrong with it. This is not a failure of the trial.
	CauseDamaged
	// CauseUnsaved: a checkpoint that a decision or the end waited for could not be saved.
	// Text is the error.
	CauseUnsaved
	// CauseMetricMissing: the result of Iteration lacks Metric, which By (the objective, a rule, a plugin)
	// needs. Text lists the metrics that it has. It is a warning if the file says that this is not a
	// failure.
	CauseMetricMissing
	// CauseNoResult: the trainable ended without an error and without any result. Metric is what it should
	// have reported, and By who needs it; a warning has no By. Text is what its program did instead.
	CauseNoResult
	// CauseNeverFits: no node can ever meet the trial's request. Text says what is missing.
	CauseNeverFits
	// CauseNodeLost: the node that the trial ran on is gone. It is a failure if that has happened more
	// often than the file allows; else the trial is requeued.
	CauseNodeLost
	// CauseLeaseLost is CauseNodeLost for a lease. Text is the engine's message.
	CauseLeaseLost
	// CauseLeaseRefused: the engine can never meet the request of the trial, or, at the end of the
	// experiment, of any trial. As a warning, the lease is requested again. Text is the engine's message.
	CauseLeaseRefused
)

// Causes of requeueing, beside CauseNodeLost and failures.
const (
	// CauseInterrupted: the host was told to leave, has died, or has ended the trial's process because of
	// another trial. As the end of the experiment: the user has interrupted it, and it can be resumed.
	CauseInterrupted CauseKind = iota + 50
	// CauseReset: the user has reset a failed trial.
	CauseReset
	// CauseUnstarted: the user lets a trial run that had ended before it ever started.
	CauseUnstarted
	// CauseLeaseEnding: the engine takes the trial's lease away, and gave notice of it.
	CauseLeaseEnding
)

// Causes of the end of the experiment, beside CauseScheduler, CauseUser and CauseInterrupted. With
// fail_fast: raise the cause is that of the first failed trial.
const (
	// CauseFailFast: a trial failed, and fail_fast is set.
	CauseFailFast CauseKind = iota + 60
	// CauseFailedBudget: as many trials failed as budget.trials_failed allows.
	CauseFailedBudget
	// CauseTimeBudget: budget.time is used up.
	CauseTimeBudget
	// CauseBudgetExpression: budget.when holds. Text is the expression.
	CauseBudgetExpression
	// CauseBudgetPlateau: the best trials are level (budget.plateau).
	CauseBudgetPlateau
	// CausePluginFailed: a plugin that the experiment needs has failed for good. Text is the error, which
	// names it.
	CausePluginFailed
	// CauseSearcherStuck: the searcher By says "not yet" though no trial runs or waits. The core leaves By empty: it
	// does not know the name.
	CauseSearcherStuck
	// CauseSchedulerStuck: the scheduler By keeps Count trials paused, and nothing is left that could
	// resume them.
	CauseSchedulerStuck
)

// Warnings: an order that was refused, or something that was lost.
const (
	// CauseResizeRefused: a trial's request cannot be changed while it runs (B-037).
	CauseResizeRefused CauseKind = iota + 80
	// CauseExploitRefused: the scheduler named a checkpoint that does not exist; the trial continues
	// unchanged.
	CauseExploitRefused
	// CauseCloneRefused: the trial to clone has no checkpoint; this one starts from the beginning.
	CauseCloneRefused
	// CauseNotHeld: a pause could not hold the trial's state in memory. Text is the error.
	CauseNotHeld
	// CauseLastUnsaved: the checkpoint at the end of a trial could not be saved. Text is the error.
	CauseLastUnsaved
	// CauseHostLost: the checkpoint of Iteration was handed over and lost with the host. Then and From say
	// from where the trial runs again; ThenNothing: it has ended.
	CauseHostLost
	// CauseNodeLostSave is CauseHostLost for a checkpoint that was lost with the node.
	CauseNodeLostSave
	// CauseCutOff: the host died while the trial was ending. Then and From say from where it runs again,
	// to save what it saves at its end.
	CauseCutOff
	// CauseDiskFull: the checkpoints take Bytes, more than Limit, and none can be deleted.
	CauseDiskFull
	// CauseNode: a node cannot join or leave. Text is the error.
	CauseNode
	// CauseLearned: the searcher knows the trial from another experiment; Text names it.
	CauseLearned
	// CauseLeasesTooShort: the trial has started Count times in a row, and each lease ended before a new
	// result.
	CauseLeasesTooShort
	// CauseSaveGivenUp is CauseHostLost for a checkpoint that was not complete when its host had to end.
	CauseSaveGivenUp
	// CauseExportGivenUp: the trial's model in a format was not complete when its host had to end. Text is the
	// format. Then and From say from where the trial runs again; ThenNothing: it has ended.
	CauseExportGivenUp
)

// Then is what a trial does next that cannot continue from where it was.
type Then uint8

// What the trial does.
const (
	// ThenNothing: nothing special.
	ThenNothing Then = iota
	// ThenCheckpoint: it goes back to an older checkpoint, that of iteration From.
	ThenCheckpoint
	// ThenBeginning: it starts without a checkpoint.
	ThenBeginning
)

// Cause is why something happened. Each kind documents which fields it uses; the others are zero.
// Causes can be compared. The text of a cause is for people; it is made by [Cause.String] alone and
// must not be parsed.
type Cause struct {
	Kind  CauseKind
	Then  Then
	Trial TrialNo
	Count uint32
	// Iteration and From count a trial's training.
	Iteration, From uint64
	// NS is a duration in nanoseconds.
	NS           int64
	Bytes, Limit int64
	Value        float64
	// Metric is a metric's name, By the name of the one who requested or did something.
	Metric, By string
	// Text is the text of a plugin, a program or the user, or a list.
	Text string
}

// TrainableFailure returns the cause of a trainable's failure; CauseNone if it gives no text.
func TrainableFailure(words string) Cause {
	if words == "" {
		return Cause{}
	}
	return Cause{Kind: CauseTrainable, Text: words}
}

// Is reports whether there is a cause of a kind.
func (c *Cause) Is(k CauseKind) bool { return c != nil && c.Kind == k }

var causeNames = [...]string{
	CauseCompleted: "completed", CauseNothingLeft: "nothing_left", CauseMetricReached: "metric_reached",
	CauseMetricAbove: "metric_above", CauseMetricBelow: "metric_below", CauseIterationReached: "iteration_reached",
	CauseTimeReached: "time_reached", CauseExpression: "expression", CausePlateau: "plateau",
	CauseScheduler: "scheduler", CauseUser: "user", CauseHeld: "held",
	CauseTrainable: "trainable", CauseSilent: "silent", CauseNotBegun: "not_begun", CauseInvalidReport: "nonsense",
	CauseNoDirectory: "no_directory", CauseDamaged: "damaged", CauseUnsaved: "unsaved",
	CauseMetricMissing: "metric_missing", CauseNoResult: "no_result", CauseNeverFits: "never_fits",
	CauseNodeLost: "node_lost", CauseLeaseLost: "lease_lost", CauseLeaseRefused: "lease_refused",
	CauseInterrupted: "interrupted", CauseReset: "reset", CauseUnstarted: "unstarted",
	CauseLeaseEnding: "lease_ending",
	CauseFailFast:    "fail_fast", CauseFailedBudget: "failed_budget", CauseTimeBudget: "time_budget",
	CauseBudgetExpression: "budget_expression", CauseBudgetPlateau: "budget_plateau",
	CausePluginFailed: "plugin_failed", CauseSearcherStuck: "searcher_stuck", CauseSchedulerStuck: "scheduler_stuck",
	CauseResizeRefused: "resize_refused", CauseExploitRefused: "exploit_refused", CauseCloneRefused: "clone_refused",
	CauseNotHeld: "not_held", CauseLastUnsaved: "last_unsaved", CauseHostLost: "host_lost",
	CauseNodeLostSave: "node_lost_save", CauseCutOff: "cut_off", CauseDiskFull: "disk_full", CauseNode: "node",
	CauseLearned: "learned", CauseLeasesTooShort: "leases_too_short",
	CauseSaveGivenUp: "save_given_up", CauseExportGivenUp: "export_given_up",
}

// String returns the kind's name, which is for programs and does not change; "" for an unknown kind.
func (k CauseKind) String() string {
	if int(k) >= len(causeNames) {
		return ""
	}
	return causeNames[k]
}

// MarshalText implements encoding.TextMarshaler: a kind is its name.
func (k CauseKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Known reports whether there is such a kind.
func (k CauseKind) Known() bool { return k.String() != "" }
