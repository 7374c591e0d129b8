package sdk

import (
	"context"
	"time"
)

// Reporter is told what happens in an experiment, to tell others. It never holds
// up a trial: one that is slow falls behind, and is told the rest later.
//
// A Reporter that is an io.Closer is closed after the last call, unless its
// process was killed.
type Reporter interface {
	// Report tells events, in order. Calls come one at a time. When it
	// returns nil the events are the reporter's: it is not told them again.
	// After an error the reporter is opened anew and says which it has.
	Report(ctx context.Context, events []ReporterEvent) error
}

// ReporterPlugin is a reporter as it is served.
type ReporterPlugin struct {
	Info
	// Open checks everything that can be checked and makes the reporter.
	// options is a JSON object that conforms to Info.Options. after is the
	// number of the last event that it already has, of an earlier life: it
	// is told those after it. One that keeps no count returns e.Told.
	Open func(e Experiment, options []byte) (r Reporter, after uint64, err error)
}

// Experiment is what a reporter is opened for.
type Experiment struct {
	Name string
	// Dir is the experiment's directory, absolute.
	Dir string
	// Told is the number of the last event that the host knows to have been
	// reported, 0: none. A host that was killed may have reported more.
	Told    uint64
	Problem Problem
}

// ReporterEventKind says what happened.
type ReporterEventKind uint8

// The kinds of events that reporters hear of.
const (
	// ReportStarted: a host took the experiment up, the first or a later one
	// (Resumed).
	ReportStarted ReporterEventKind = iota + 1
	// ReportEnded: the experiment ended; Reason is finished, stopped,
	// interrupted or failed. It may be taken up again.
	ReportEnded
	// ReportAdded: a trial exists.
	ReportAdded
	// ReportRuns: a trial runs, for the first time or again; where Restored
	// is not 0 it was restored from a checkpoint of that iteration.
	ReportRuns
	// ReportResult: Result is set.
	ReportResult
	// ReportPaused: a trial stopped running and may go on later.
	ReportPaused
	// ReportSaved: a checkpoint of Iteration is whole on disk.
	ReportSaved
	// ReportCompleted: a trial ended well, or was stopped; Reason says why.
	ReportCompleted
	// ReportFailed: a trial ended in an error, Trial.Error.
	ReportFailed
	// ReportRequeued: a trial will be run again, after a failure (Trial.Error
	// or Reason) or an interruption.
	ReportRequeued
	// ReportRemoved: a trial ended that did not run.
	ReportRemoved
)

var reporterEventKinds = [...]string{"unknown", "started", "ended", "added", "runs", "result", "paused", "saved", "completed", "failed", "requeued", "removed"}

// String is one word, for logs.
func (k ReporterEventKind) String() string {
	if int(k) >= len(reporterEventKinds) {
		return reporterEventKinds[0]
	}
	return reporterEventKinds[k]
}

// ReporterEvent is one thing that happened.
type ReporterEvent struct {
	// Number grows from event to event; what reporters do not hear of leaves
	// gaps. The same event always has the same number.
	Number uint64
	Kind   ReporterEventKind
	Time   time.Time
	// Trial is nil in events of the experiment.
	Trial *ReportedTrial
	// Result is set for ReportResult.
	Result *ReportedResult
	// Iteration of a checkpoint (ReportSaved).
	Iteration uint64
	// Restored is the iteration that the trial goes on from (ReportRuns);
	// results after it may be reported again.
	Restored uint64
	Resumed  bool
	Reason   string
}

// ReportedTrial is a trial as it is after the event.
type ReportedTrial struct {
	// Number counts from 0; ID is its name in files.
	Number uint32
	ID     string
	Dir    string // absolute
	// State is PENDING, RUNNING, PAUSED, TERMINATED or ERROR.
	State string
	// Attempt counts its starts, from 1.
	Attempt uint32
	// Params is the JSON object of its parameters.
	Params []byte
	Error  string
}

// ReportedResult is one report of a trial with the host's own fields. Times are
// in seconds.
type ReportedResult struct {
	// Metrics are flattened, as they were reported, NaN and infinities
	// included. Totals are sums over the trial of counters that are reported
	// per iteration: tokens_this_iter → tokens_total, tokens_since_restore.
	Metrics, Totals []Metric
	Iteration       uint64
	Done            bool
	TimeTotal       float64
	TimeThisIter    float64
	PID             uint32
	Host            string
	// Restored: the attempt began from a checkpoint, since which the next
	// two count.
	Restored               bool
	IterationsSinceRestore uint64
	TimeSinceRestore       float64
	// Again: the trial had reported this iteration before it was restarted.
	Again bool
	// Values is a JSON object of what was reported beside the metrics; nil: nothing.
	Values []byte
}
