package core

// CauseKind says what kind of thing has made something happen to a trial or to the
// experiment: why it ended, was paused, goes back in line, or was refused something. The
// set is closed. Numbers are in the record: a new kind goes to the end, and none is used
// again for something else.
type CauseKind uint8

// CauseNone: there is no cause, or nobody has said it.
const CauseNone CauseKind = 0

// Why trials end well, or are stopped.
const (
	// CauseCompleted: the trainable has ended by itself.
	CauseCompleted CauseKind = iota + 1
	// CauseNothingLeft: the trial took over a checkpoint, that of Iteration of Trial, and
	// its trainable ended without a result: there was nothing left to train.
	CauseNothingLeft
	// CauseMetricReached: a result has met the rule of the file that Metric reaches Value,
	// in the direction of the rule. The metric may be one of the host's own fields.
	CauseMetricReached
	// CauseMetricAbove: a result has met the rule {above: Value} on Metric.
	CauseMetricAbove
	// CauseMetricBelow: a result has met the rule {below: Value} on Metric.
	CauseMetricBelow
	// CauseIterationReached: the trial has reached Iteration, the last that the file allows.
	CauseIterationReached
	// CauseTimeReached: the trial has trained as long as the file allows.
	CauseTimeReached
	// CauseExpression: stop.when holds with a result. Text is the expression.
	CauseExpression
	// CausePlateau: the trial's last values of Metric are level (stop.plateau).
	CausePlateau
	// CauseScheduler: the scheduler, or the plugin of stop.plugin, has decided or ordered a
	// stop, a pause or the end of the experiment. Text is its reason, in its own words.
	CauseScheduler
	// CauseUser: the user has stopped the trial, or all of them. Text is what he said, if
	// anything.
	CauseUser
)

// Why trials are paused; see CauseScheduler, too.
const (
	// CauseHeld: the user has paused the trial, or all of them.
	CauseHeld CauseKind = iota + 20
)

// Why attempts fail, and with the last of them their trials. Where the trial is retried,
// Then says what it begins from, where that is not its newest checkpoint.
const (
	// CauseTrainable: the trainable has failed: its program, its process, or a call of the
	// plugin. Text is what it said, or what became of it.
	CauseTrainable CauseKind = iota + 30
	// CauseSilent: the trial reported nothing for NS, its deadline, and was killed.
	CauseSilent
	// CauseNotBegun: the trainable By did not say within NS that the trial had started, and
	// was killed.
	CauseNotBegun
	// CauseNonsense: the trainable reported what no trainable may. Text says what.
	CauseNonsense
	// CauseNoDirectory: the trial's directory could not be made. Text is the error.
	CauseNoDirectory
	// CauseDamaged: the checkpoint that the trial was to go on from is not what was saved.
	// Text says what is wrong with it. That is no failure of the trial's.
	CauseDamaged
	// CauseUnsaved: a checkpoint that a decision or the end waited for could not be saved.
	// Text is the error.
	CauseUnsaved
	// CauseMetricMissing: the result of Iteration lacks Metric, which By (the objective, a
	// rule, a plugin) needs. Text is the list of those that it has. It is a warning where
	// the file says that this is no failure.
	CauseMetricMissing
	// CauseNoResult: the trainable ended well without any result. Metric is what it should
	// have reported, and By who needs it; a warning has no By.
	CauseNoResult
	// CauseNeverFits: no node can ever meet the trial's request. Text says what is short.
	CauseNeverFits
	// CauseNodeLost: the node that the trial ran on is gone. It is a failure where that
	// has happened more often than the file allows; else the trial goes back in line.
	CauseNodeLost
)

// Why trials go back in line; see CauseNodeLost and the failures, too.
const (
	// CauseInterrupted: the host was told to leave, has died, or has ended the trial's
	// process for the sake of another trial. As the end of the experiment: the user has
	// interrupted it, and it can go on.
	CauseInterrupted CauseKind = iota + 50
	// CauseReset: the user has a trial that failed run again.
	CauseReset
	// CauseUnstarted: the user has a trial run that had been ended before it ever started.
	CauseUnstarted
)

// Why the experiment ends, and what waits or runs with it; see CauseScheduler, CauseUser
// and CauseInterrupted, too. With fail_fast: raise it is what the first trial failed of.
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
	// CausePluginFailed: a plugin that the experiment cannot do without is beyond help.
	// Text is the error, which names it.
	CausePluginFailed
	// CauseSearcherStuck: the searcher says "not yet" though no trial runs or waits.
	CauseSearcherStuck
	// CauseSchedulerStuck: the scheduler By keeps Count trials paused, and nothing is left
	// that could wake them.
	CauseSchedulerStuck
)

// What the user is warned of: an order that was refused, or something that was lost.
const (
	// CauseResizeRefused: a trial's request cannot be changed while it runs (B-037).
	CauseResizeRefused CauseKind = iota + 80
	// CauseExploitRefused: the scheduler named a checkpoint that does not exist; the trial
	// goes on as it was.
	CauseExploitRefused
	// CauseCloneRefused: the trial that this one is to start from has no checkpoint; it
	// starts from the beginning.
	CauseCloneRefused
	// CauseNotHeld: a pause could not hold the trial's state in memory. Text is the error.
	CauseNotHeld
	// CauseLastUnsaved: the checkpoint with which a trial ends could not be saved. Text is
	// the error.
	CauseLastUnsaved
	// CauseHostLost: the checkpoint of Iteration had been handed over and was lost with the
	// host. Then and From say from where the trial runs again; ThenNothing: it has ended.
	CauseHostLost
	// CauseNodeLostSave is CauseHostLost where it was lost with the node.
	CauseNodeLostSave
	// CauseCutOff: the host died while the trial was ending. Then and From say from where
	// it runs again, so that what it saves at its end is there.
	CauseCutOff
	// CauseDiskFull: the checkpoints take Bytes, more than Limit, and none can be spared.
	CauseDiskFull
	// CauseNode: a node cannot join or leave. Text is the error.
	CauseNode
	// CauseLearned: the searcher knows the trial from another experiment, which Text names.
	CauseLearned
)

// Then is what a trial does next that cannot go on from where it was.
type Then uint8

// What it does.
const (
	// ThenNothing: nothing out of the ordinary.
	ThenNothing Then = iota
	// ThenCheckpoint: it goes back to an older checkpoint, that of iteration From.
	ThenCheckpoint
	// ThenBeginning: it begins without a checkpoint.
	ThenBeginning
)

// Cause is why something happened. Each kind says which of the fields it has; the others
// are zero. Causes can be compared. Nothing is to be read out of a cause's text: it is for
// people, and made by [Cause.String] alone.
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
	// Metric is a metric's name, By who has asked for or done something.
	Metric, By string
	// Text are the words of a plugin, a program or the user, or a list.
	Text string
}

// TrainableFailure is the failure of which a trainable speaks; none where it says nothing.
func TrainableFailure(words string) Cause {
	if words == "" {
		return Cause{}
	}
	return Cause{Kind: CauseTrainable, Text: words}
}

// Is says whether there is a cause, and whether it is of a kind.
func (c *Cause) Is(k CauseKind) bool { return c != nil && c.Kind == k }

var causeNames = [...]string{
	CauseCompleted: "completed", CauseNothingLeft: "nothing_left", CauseMetricReached: "metric_reached",
	CauseMetricAbove: "metric_above", CauseMetricBelow: "metric_below", CauseIterationReached: "iteration_reached",
	CauseTimeReached: "time_reached", CauseExpression: "expression", CausePlateau: "plateau",
	CauseScheduler: "scheduler", CauseUser: "user", CauseHeld: "held",
	CauseTrainable: "trainable", CauseSilent: "silent", CauseNotBegun: "not_begun", CauseNonsense: "nonsense",
	CauseNoDirectory: "no_directory", CauseDamaged: "damaged", CauseUnsaved: "unsaved",
	CauseMetricMissing: "metric_missing", CauseNoResult: "no_result", CauseNeverFits: "never_fits",
	CauseNodeLost: "node_lost", CauseInterrupted: "interrupted", CauseReset: "reset", CauseUnstarted: "unstarted",
	CauseFailFast: "fail_fast", CauseFailedBudget: "failed_budget", CauseTimeBudget: "time_budget",
	CauseBudgetExpression: "budget_expression", CauseBudgetPlateau: "budget_plateau",
	CausePluginFailed: "plugin_failed", CauseSearcherStuck: "searcher_stuck", CauseSchedulerStuck: "scheduler_stuck",
	CauseResizeRefused: "resize_refused", CauseExploitRefused: "exploit_refused", CauseCloneRefused: "clone_refused",
	CauseNotHeld: "not_held", CauseLastUnsaved: "last_unsaved", CauseHostLost: "host_lost",
	CauseNodeLostSave: "node_lost_save", CauseCutOff: "cut_off", CauseDiskFull: "disk_full", CauseNode: "node",
	CauseLearned: "learned",
}

// String is the kind's name: it is for programs, and stays. "" is that of no kind.
func (k CauseKind) String() string {
	if int(k) >= len(causeNames) {
		return ""
	}
	return causeNames[k]
}

// MarshalText implements encoding.TextMarshaler: a kind is its name.
func (k CauseKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Known says whether there is such a kind.
func (k CauseKind) Known() bool { return k.String() != "" }
