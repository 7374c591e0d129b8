package sdk

import (
	"context"
	"time"
)

// A Reporter receives the events of an experiment and publishes them. It never delays a trial: a
// slow reporter falls behind and receives the rest later.
//
// A Reporter that is an io.Closer is closed after the last call, unless its process was killed.
type Reporter interface {
	// Report delivers events, in order. Calls are not concurrent. After Report returns nil, the
	// events are not sent again. After an error the reporter is opened again and returns the number
	// of its last event.
	Report(ctx context.Context, events []ReporterEvent) error
}

// ReporterPlugin describes a reporter to be served.
type ReporterPlugin struct {
	Info
	// Open checks everything that can be checked and returns the reporter. options is a JSON object
	// that conforms to Info.Options. after is the number of the last event that the reporter
	// already has from an earlier process: it receives the events after it. A reporter that keeps
	// no count returns e.Told.
	Open func(e Experiment, options []byte) (r Reporter, after uint64, err error)
}

// An Experiment is the input of Open for a reporter.
type Experiment struct {
	Name string
	// Dir is the absolute path of the experiment's directory.
	Dir string
	// Told is the number of the last event that the host knows to be reported; 0: none. A host that
	// was killed may have reported more.
	Told    uint64
	Problem Problem
}

// ReporterEventKind is the kind of an event.
type ReporterEventKind uint8

// The kinds of events that reporters receive.
const (
	// ReportStarted: a host started the experiment, or resumed it (Resumed).
	ReportStarted ReporterEventKind = iota + 1
	// ReportEnded: the experiment ended; Reason is finished, stopped, interrupted or failed. It may
	// be resumed.
	ReportEnded
	// ReportAdded: a trial exists.
	ReportAdded
	// ReportRuns: a trial runs, for the first time or again. If Restored is not 0, it was restored
	// from a checkpoint of that iteration.
	ReportRuns
	// ReportResult: Result is set.
	ReportResult
	// ReportPaused: a trial stopped running and may continue later.
	ReportPaused
	// ReportSaved: a checkpoint of Iteration is complete on disk.
	ReportSaved
	// ReportCompleted: a trial completed or was stopped; Reason says why.
	ReportCompleted
	// ReportFailed: a trial ended with an error, Trial.Error.
	ReportFailed
	// ReportRequeued: a trial will run again, after a failure (Trial.Error or Reason) or an
	// interruption.
	ReportRequeued
	// ReportRemoved: a trial that was not running ended.
	ReportRemoved
)

var reporterEventKinds = [...]string{"unknown", "started", "ended", "added", "runs", "result", "paused", "saved",
	"completed", "failed", "requeued", "removed"}

// String returns one word, for logs.
func (k ReporterEventKind) String() string {
	if int(k) >= len(reporterEventKinds) {
		return reporterEventKinds[0]
	}
	return reporterEventKinds[k]
}

// A ReporterEvent is something that happened.
type ReporterEvent struct {
	// Number increases from event to event; events that reporters do not receive leave gaps. The
	// same event always has the same number.
	Number uint64
	Kind   ReporterEventKind
	Time   time.Time
	// Trial is nil for events of the experiment.
	Trial *ReportedTrial
	// Result is set for ReportResult.
	Result *ReportedResult
	// Iteration of a checkpoint (ReportSaved).
	Iteration uint64
	// Restored is the iteration from which the trial continues (ReportRuns); later results may be
	// reported again.
	Restored uint64
	Resumed  bool
	Reason   string
}

// A ReportedTrial is a trial after the event.
type ReportedTrial struct {
	// Number starts at 0; ID is its name in files.
	Number uint32
	ID     string
	Dir    string // absolute path
	// State is PENDING, RUNNING, PAUSED, TERMINATED or ERROR.
	State string
	// Attempt is the number of starts, from 1.
	Attempt uint32
	// Params is a JSON object of its parameters.
	Params []byte
	Error  string
}

// A ReportedResult is one report of a trial with fields added by the host. Times are in seconds.
type ReportedResult struct {
	// Metrics are the reported metrics, flattened, including NaN and infinities. Totals are sums
	// over the trial of counters that are reported per iteration: tokens_this_iter → tokens_total,
	// tokens_since_restore.
	Metrics, Totals []Metric
	Iteration       uint64
	Done            bool
	TimeTotal       float64
	TimeThisIter    float64
	PID             uint32
	Host            string
	// Restored: the attempt started from a checkpoint; the next two fields count from there.
	Restored               bool
	IterationsSinceRestore uint64
	TimeSinceRestore       float64
	// Again: the trial had already reported this iteration before a restart.
	Again bool
	// Values is a JSON object of the reported values that are not metrics; nil: none.
	Values []byte
}
