package view

import (
	"cmp"
	"time"

	"github.com/tunehost/tunehost/core"
)

// Began is the kind of the event with which a host, the first or a later one, takes over the
// experiment. The core has no observation of it.
const Began core.ObservationKind = 128

// Event is one thing that happened, with everything that a reporter needs.
type Event struct {
	// Number increases from 1; observations that are not for reporters leave gaps. It is a function of the
	// record: an event that is told again has the same number.
	Number uint64
	Kind   core.ObservationKind
	// Time is the time of day.
	Time  time.Time
	Trial Subject
	// Result is set for SawResult.
	Result *Report
	// Iteration is the iteration of a checkpoint (SawCheckpoint).
	Iteration uint64
	// Reason says why (paused, completed, failed, removed, requeued, end).
	Reason string
	// Retried says that the trial was requeued because it failed; Reason is its error.
	Retried bool
	// Restored is the iteration that the attempt starts from (SawStarted); later results are reported
	// again (B-061).
	Restored uint64
	// Resumed says that an earlier host had begun the experiment (Began).
	Resumed bool
}

// OfTrial reports whether the event has a trial.
func (e *Event) OfTrial() bool { return e.Kind != core.SawEnd && e.Kind != Began }

// Failure returns why an attempt failed, also if it is retried; "" for an event that is not a failure.
func (e *Event) Failure() string {
	switch e.Kind {
	case core.SawFailed:
		return cmp.Or(e.Trial.Error, e.Reason, "failed")
	case core.SawRequeued:
		if !e.Retried {
			return e.Trial.Error
		}
		return cmp.Or(e.Trial.Error, e.Reason)
	}
	return ""
}

// Subject is a trial as an event names it, in its state after the event.
type Subject struct {
	Number  core.TrialNo
	ID      string
	Dir     string // absolute
	State   core.State
	Attempt uint32
	// Params is a JSON object, nested as in the experiment file: the parameters of the last result, or with
	// SawStarted the ones that the trial starts with (B-154).
	Params []byte
	// Since is the first attempt of the trial's present stretch. Results of earlier attempts were measured
	// with other parameters, or before the trial continued from another's checkpoint, and do not change
	// (B-154).
	Since uint32
	// Error is why it failed; "" in states other than ERROR.
	Error string
}

// Report is a result with the host's own fields (B-016). Durations are in seconds.
type Report struct {
	Metrics []Metric // as reported, in the order of the report
	// Totals are sums over the trial of counters that are reported per iteration (timesteps_this_iter →
	// timesteps_total, timesteps_since_restore).
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
	// Again says that the trial had reported this iteration before it was restarted.
	Again bool
	// Values is a JSON object of what was reported beside the metrics; nil for none.
	Values []byte
}
