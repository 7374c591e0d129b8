package view

import (
	"cmp"
	"time"

	"github.com/tunehost/tunehost/core"
)

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
	Trial Subject
	// Result is set for SawResult.
	Result *Report
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

// Failure is why an attempt failed, also one that is retried; "" for an event
// that is no failure.
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

// Subject is a trial as an event names it: as it is after the event.
type Subject struct {
	Number  core.TrialNo
	ID      string
	Dir     string // absolute
	State   core.State
	Attempt uint32
	// Params is a JSON object, nested as in the experiment file: those of its last
	// result, or what it starts with (SawStarted) (B-154).
	Params []byte
	// Since is the first attempt of the stretch that it is in: what earlier ones
	// reported was measured with other parameters, or before it went on from another's
	// checkpoint, and stays as it is (B-154).
	Since uint32
	// Error is why it failed; "" but in ERROR.
	Error string
}

// Report is a result with the host's own fields (B-016). Durations are in
// seconds.
type Report struct {
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
