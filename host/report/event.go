// Package report tells the world outside what happened: files in the trials'
// directories, the terminal, JSON lines, and reporters that are plugins.
//
// Reporters are told only what is safe on disk, in the order of the events'
// numbers, by one goroutine each; a slow one never holds up a trial (B-127).
package report

import (
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// Metric is one number under its name.
type Metric struct {
	Name  string
	Value float64
}

// Began is the kind of the event with which a host takes the experiment up, the
// first or a later one. The core has no observation of it.
const Began core.ObservationKind = 128

// Event is one thing that happened, with all that a reporter may want to know.
type Event struct {
	// Number grows from 1; what reporters are not told leaves gaps. It is a
	// function of the record: whoever tells an event again tells the same one.
	Number uint64
	Kind   core.ObservationKind
	// Time is the time of day.
	Time  time.Time
	Trial Trial
	// Result is set for SawResult.
	Result *Result
	// Iteration of a checkpoint (SawCheckpoint).
	Iteration uint64
	// Reason says why (paused, completed, failed, removed, requeued, end).
	Reason string
	// Retried: it was requeued because it failed, and Reason is its error.
	Retried bool
	// Restored is the iteration that the attempt goes on from (SawStarted);
	// results after it are reported again (B-061).
	Restored uint64
	// Resumed: an earlier host had begun the experiment (Began).
	Resumed bool
}

// OfTrial says whether the event has a trial.
func (e *Event) OfTrial() bool { return e.Kind != core.SawEnd && e.Kind != Began }

// Trial is the trial that an event is about, as it is after the event.
type Trial struct {
	Number  core.TrialNo
	ID      string
	Dir     string // absolute
	State   core.State
	Attempt uint32
	// Params is a JSON object, nested as in the experiment file: those of its last
	// result, or what it starts with (SawStarted).
	Params []byte
	// Since is the first attempt of the stretch that it is in: what earlier ones
	// reported was measured with other parameters, or before it went on from another's
	// checkpoint, and stays as it is (B-154).
	Since uint32
	// Error is why it failed; set with SawFailed.
	Error string
}

// Result is one report with the host's own fields (B-016). Durations are in
// seconds.
type Result struct {
	Metrics []Metric // as reported, in the order of the report
	// Totals are the sums over the trial of counters that are reported per
	// iteration (timesteps_this_iter → timesteps_total,
	// timesteps_since_restore).
	Totals                 []Metric
	Iteration              uint64
	TimeTotal              float64
	TimeThisIter           float64
	Done                   bool
	PID                    uint32
	Host                   string
	Restored               bool // the attempt began from a checkpoint
	IterationsSinceRestore uint64
	TimeSinceRestore       float64
	// Again: the trial had reported this iteration before it was restarted.
	Again bool
	// Values is a JSON object of what was reported beside the metrics; nil: nothing.
	Values []byte
}

// Reporter is told events, in batches.
type Reporter interface {
	// Report is called by one goroutine. An error is logged once, and the
	// reporter is not called again.
	Report(events []Event) error
	// Close is called once, after the last event.
	Close() error
}

// Status is where the experiment stands; it is made for the terminal and for
// `status --json`.
type Status struct {
	Name  string
	Dir   string
	State string // running, finished, stopped, interrupted or failed
	// Cause is why it ended or is ending.
	Cause  core.Cause
	Counts map[core.State]int
	// NeverStarted is how many of the TERMINATED were ended before they had ever
	// started.
	NeverStarted int
	// Paused: the user has paused it, or all that is left of it.
	Paused bool
	// Ending is what it is about to become, as State, while its trials end; they have
	// Grace for that. "" while nothing ends it.
	Ending string
	Grace  time.Duration
	// Hint is what the user can do now; "" where that is nothing special.
	Hint      string
	Planned   int64 // trials planned; negative: no bound
	Made      int64
	Objective core.Objective
	Resources []resource.Usage
	Elapsed   time.Duration // running time, counted across resumes
	Best      *Best
	// NoBest says why there is no Best.
	NoBest string
}

// Best is the best trial so far, by its last, least, largest or mean value.
type Best struct {
	Trial Trial
	Value float64
	// Runs is how many runs of a suggestion the value is the mean of, where it
	// has several: those from Trial on; 0 elsewhere.
	Runs int
}
