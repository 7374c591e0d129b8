package core

import (
	"strconv"
	"strings"
)

// String returns the cause as text for people: one line, unless a program's text has several. All
// texts of causes are made here. It is "" for no cause.
func (c Cause) String() string {
	switch {
	case c.Kind < CauseHeld:
		return c.ending()
	case c.Kind < CauseInterrupted:
		return c.failure() + c.goesBack()
	case c.Kind < CauseFailFast:
		return c.requeue()
	case c.Kind < CauseResizeRefused:
		return c.experiment()
	}
	return c.warning()
}

func (c *Cause) ending() string {
	switch c.Kind {
	case CauseCompleted:
		return "completed"
	case CauseNothingLeft:
		return "trial " + decimal(uint64(c.Trial)) + "'s checkpoint of iteration " + decimal(c.Iteration) +
			", from which it continued, left nothing to train"
	case CauseMetricReached:
		return "reached " + c.Metric + " " + c.value()
	case CauseMetricAbove:
		return c.Metric + " is above " + c.value()
	case CauseMetricBelow:
		return c.Metric + " is below " + c.value()
	case CauseIterationReached:
		return "reached iteration " + decimal(c.Iteration)
	case CauseTimeReached:
		return "reached its time limit"
	case CauseExpression:
		return "stop.when holds: " + c.Text
	case CausePlateau:
		return "plateau of " + c.Metric
	case CauseUser:
		return c.or("stopped by the user")
	}
	return c.Text
}

func (c *Cause) failure() string {
	switch c.Kind {
	case CauseHeld:
		return "paused by the user"
	case CauseSilent:
		if c.By != "" {
			return "its " + c.By + " was not heard of for " + shortText(c.NS)
		}
		return "it was silent for " + durationText(c.NS) + ", its deadline, and was killed"
	case CauseNotBegun:
		return "trainable " + strconv.Quote(c.By) + " did not say within " + shortText(c.NS) +
			" that the trial had started (STARTED), and was killed; deadlines.begin allows it more"
	case CauseInvalidReport:
		return "it reported nonsense: " + c.Text
	case CauseNoDirectory:
		return "its directory cannot be made: " + c.Text
	case CauseUnsaved:
		return "its checkpoint could not be saved: " + c.Text
	case CauseMetricMissing:
		return "result " + decimal(c.Iteration) + " lacks the metric " + strconv.Quote(c.Metric) + ", which the " +
			c.By +
			" needs; it has " + c.or("no metrics")
	case CauseNoResult:
		return c.noResult()
	case CauseNodeLost:
		return "node lost"
	case CauseLeaseLost:
		return "lease lost" + c.inWords()
	case CauseLeaseRefused:
		return "lease refused" + c.inWords()
	}
	return c.Text
}

func (c *Cause) noResult() string {
	text := "it ended without reporting a result"
	if c.Metric != "" {
		text = "it ended without reporting " + c.Metric
	}
	if c.By != "" {
		text += ", which the " + c.By + " needs"
	}
	if c.Text != "" {
		text += ": " + c.Text
	}
	return text
}

// goesBack says what a retried trial does that cannot start from its newest checkpoint.
func (c *Cause) goesBack() string {
	switch c.Then {
	case ThenCheckpoint:
		return "; it goes back to the checkpoint of iteration " + decimal(c.From)
	case ThenBeginning:
		return "; it starts again without the checkpoint"
	}
	return ""
}

func (c *Cause) requeue() string {
	switch c.Kind {
	case CauseInterrupted:
		return "interrupted"
	case CauseReset:
		return "reset after its error"
	case CauseLeaseEnding:
		return "its lease is ending" + c.inWords()
	}
	return "it had never started, and is to run now"
}

func (c *Cause) experiment() string {
	switch c.Kind {
	case CauseFailFast:
		return "a trial failed, and fail_fast is set"
	case CauseFailedBudget:
		return "the budget of failed trials is used up"
	case CauseTimeBudget:
		return "the time budget is used up"
	case CauseBudgetExpression:
		return "budget.when holds: " + c.Text
	case CauseBudgetPlateau:
		return "plateau of the experiment"
	case CauseSearcherStuck:
		return c.searcher() + ` says "not yet" although no trial is running or waiting; the experiment would wait ` +
			"for ever: a searcher that has no more points must say EXHAUSTED; mend it, or choose another"
	case CauseSchedulerStuck:
		if c.Count == 1 {
			return "scheduler " + c.By + " keeps 1 trial paused, and nothing is left that could wake it"
		}
		return "scheduler " + c.By + " keeps " + decimal(uint64(c.Count)) +
			" trials paused, and nothing is left that could wake them"
	}
	return c.Text
}

// searcher names the searcher, as far as it is known.
func (c *Cause) searcher() string {
	if c.By == "" {
		return "the searcher"
	}
	return "searcher " + c.By
}

func (c *Cause) warning() string {
	switch c.Kind {
	case CauseResizeRefused:
		return "its resources cannot change while it runs; it must be paused first"
	case CauseExploitRefused:
		return "it cannot continue from the checkpoint that the scheduler named, which does not exist; it continues " +
			"as it was"
	case CauseCloneRefused:
		return "the trial that it is to start from has no checkpoint; it starts from the beginning"
	case CauseNotHeld:
		return "its state could not be kept in memory, so it will continue from its last checkpoint: " + c.Text
	case CauseLastUnsaved:
		return "its last checkpoint could not be saved: " + c.Text
	case CauseHostLost:
		return c.lostSave("the host died")
	case CauseSaveGivenUp:
		return c.lostSave("the host was told to end")
	case CauseExportGivenUp:
		return c.lostModel()
	case CauseNodeLostSave:
		return c.lostSave("its node was lost")
	case CauseCutOff:
		return "the host died while the trial was ending: it runs again from " + c.startingPoint() +
			", so that its final checkpoint is saved"
	case CauseDiskFull:
		return "the checkpoints take " + strconv.FormatInt(c.Bytes, 10) + " bytes, more than the " +
			strconv.FormatInt(c.Limit, 10) + " of checkpoint.disk, and will take more with each new trial: the " +
			"newest of each trial is kept, also of one that has ended, as is one from which another is to " +
			"continue; allow more, or save smaller ones"
	case CauseLearned:
		return "known from " + c.Text
	case CauseLeasesTooShort:
		return "it has started " + decimal(uint64(c.Count)) + " times without a new result: its leases end before it " +
			"reports one; ask for longer leases, or save checkpoints more often"
	}
	return c.Text
}

func (c *Cause) lostSave(because string) string {
	text := "its checkpoint of iteration " + decimal(c.Iteration) + " is lost, because " + because +
		" before it was kept; "
	if c.Then == ThenNothing {
		return text + "an older one is its newest"
	}
	return text + "the trial runs again from " + c.startingPoint()
}

func (c *Cause) lostModel() string {
	text := "its model as " + c.Text + " is lost, because the host was told to end before it was kept"
	if c.Then == ThenNothing {
		return text
	}
	return text + "; the trial runs again from " + c.startingPoint() + ", and exports it"
}

func (c *Cause) startingPoint() string {
	if c.Then == ThenCheckpoint {
		return "iteration " + decimal(c.From)
	}
	return "the beginning"
}

// inWords appends the text of a plugin, a program or a user, if there is any.
func (c *Cause) inWords() string {
	if c.Text == "" {
		return ""
	}
	return ": " + c.Text
}

func (c *Cause) or(text string) string {
	if c.Text != "" {
		return c.Text
	}
	return text
}

func (c *Cause) value() string { return strconv.FormatFloat(c.Value, 'g', -1, 64) }

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// shortText writes a duration as people do: 2m, not 2m0s.
func shortText(ns int64) string {
	s := durationText(ns)
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// durationText writes a duration as time.Duration does; the core does not import time.
func durationText(ns int64) string {
	const second, minute, hour = 1_000_000_000, 60_000_000_000, 3600_000_000_000
	switch {
	case ns == 0:
		return "0s"
	case ns < 1_000:
		return inUnits(ns, 1) + "ns"
	case ns < 1_000_000:
		return inUnits(ns, 1_000) + "µs"
	case ns < second:
		return inUnits(ns, 1_000_000) + "ms"
	}
	text := ""
	if ns >= hour {
		text += inUnits(ns-ns%hour, hour) + "h"
	}
	if ns >= minute {
		text += inUnits(ns%hour-ns%minute, minute) + "m"
	}
	return text + inUnits(ns%minute, second) + "s"
}

// inUnits writes n in a unit, with the rest as decimals.
func inUnits(n, unit int64) string {
	text := strconv.FormatInt(n/unit, 10)
	if n%unit == 0 {
		return text
	}
	rest := strconv.FormatInt(unit+n%unit, 10)[1:] // with leading zeros
	return text + "." + strings.TrimRight(rest, "0")
}
