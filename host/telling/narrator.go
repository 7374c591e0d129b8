package telling

import (
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/totals"
)

// Narrator makes reports of what the core saw. It is told every observation in
// order, since the record began, so that times and totals come out the same
// after a crash.
type Narrator struct {
	machine *core.Machine
	trial   func(core.TrialNo) report.Trial
	tracks  map[core.TrialNo]*track
	host    string
	// seen is the last observation for reporters, hosts how many have taken
	// the experiment up: both count in the events' numbers.
	seen, hosts uint64
}

// track is what a running trial's next report needs.
type track struct {
	pid      uint32
	restored uint64 // iteration that the attempt began from
	fromCkpt bool
	began    int64 // training time when the attempt began
	last     int64 // training time of the last result
	sums     *totals.Sums
}

// NewNarrator follows a machine; trial is what is said of its trials.
func NewNarrator(m *core.Machine, trial func(core.TrialNo) report.Trial) *Narrator {
	return &Narrator{machine: m, trial: trial, tracks: map[core.TrialNo]*track{}}
}

// number is the event's of an observation.
func (n *Narrator) number(o core.Observation) uint64 { return o.Number + n.hosts }

// Last is the number of the last event.
func (n *Narrator) Last() uint64 { return n.seen + n.hosts }

func (n *Narrator) now() time.Time { return time.Unix(0, n.machine.Wall(n.machine.Now())) }

// began makes a report of a host's start. It is called before those of the
// observations that the start has led to.
func (n *Narrator) began() report.Event {
	n.hosts++
	return report.Event{Number: n.Last(), Kind: report.Began, Time: n.now(), Resumed: n.hosts > 1}
}

// heard takes note of what is no observation, right after it was applied.
func (n *Narrator) heard(e core.Event, tell func(report.Event)) {
	switch e := e.(type) {
	case *core.AttemptStarted:
		n.track(e.Trial).pid = e.PID
	case *core.HostStarted:
		n.host = e.Host
		tell(n.began())
	}
}

// event makes a report of an observation. The machine is as it was right after.
func (n *Narrator) event(o core.Observation) report.Event {
	n.seen = o.Number
	e := report.Event{Number: n.number(o), Kind: o.Kind, Time: n.now(), Reason: o.Reason(), Retried: o.Retried,
		Iteration: o.Iteration}
	if o.Kind == core.SawEnd {
		return e
	}
	e.Trial = n.trial(o.Trial)
	e.Trial.State = stateAfter(o.Kind, e.Trial.State)
	if o.Attempt > 0 { // the trial may have been started again since
		e.Trial.Attempt = o.Attempt
	}
	switch o.Kind {
	case core.SawStarted:
		e.Trial.Params = n.machine.Params(o.Trial) // it has no result with them yet
		e.Restored = n.begin(o)
	case core.SawResult:
		e.Result = n.result(o)
	case core.SawFailed:
		e.Trial.Error = e.Reason
	}
	if n.machine.State(o.Trial).Final() {
		delete(n.tracks, o.Trial)
	}
	return e
}

// stateAfter is a trial's state right after it was observed: the machine's, but that it
// may have gone on in the same step, as one that is added or requeued and starts.
func stateAfter(kind core.ObservationKind, now core.State) core.State {
	switch kind {
	case core.SawAdded, core.SawRequeued:
		return core.Pending
	case core.SawStarted, core.SawResult:
		return core.Running
	case core.SawPaused:
		return core.Paused
	case core.SawCompleted, core.SawRemoved:
		return core.Terminated
	case core.SawFailed:
		return core.Errored
	}
	return now
}

// Hear makes reports of an entry of the record, right after it was applied: of a host's start, and of what reporters
// hear of. Those up to the number after were told before; they only count.
func (n *Narrator) Hear(s *history.Step, after uint64, tell func(report.Event)) {
	n.heard(s.Event, func(e report.Event) {
		if e.Number > after {
			tell(e)
		}
	})
	for o := range s.Observations(core.ToReporters) {
		if n.number(o) <= after {
			n.follow(o)
		} else {
			tell(n.event(o))
		}
	}
}

// follow takes note of an observation that nobody needs a report of.
func (n *Narrator) follow(o core.Observation) {
	n.seen = o.Number
	switch o.Kind {
	case core.SawStarted:
		n.begin(o)
	case core.SawResult:
		t := n.track(o.Trial)
		t.last = n.machine.View(o.Trial).TrainNS
		for _, x := range o.Metrics {
			t.sums.Add(n.machine.MetricName(x.ID), x.Value)
		}
	}
	if o.Kind != core.SawEnd && n.machine.State(o.Trial).Final() {
		delete(n.tracks, o.Trial)
	}
}

func (n *Narrator) track(no core.TrialNo) *track {
	t := n.tracks[no]
	if t == nil {
		t = &track{sums: totals.New()}
		n.tracks[no] = t
	}
	return t
}

// begin starts the counters of an attempt anew (B-055).
func (n *Narrator) begin(o core.Observation) uint64 {
	v, t := n.machine.View(o.Trial), n.track(o.Trial)
	t.restored, t.fromCkpt = v.At, v.At > 0 || n.machine.From(o.Trial).ID != 0
	t.began, t.last = v.TrainNS, v.TrainNS
	t.sums.Begin(n.machine, o.Trial)
	return t.restored
}

// result adds the host's own fields (B-016).
func (n *Narrator) result(o core.Observation) *report.Result {
	v, t := n.machine.View(o.Trial), n.track(o.Trial)
	r := &report.Result{Iteration: o.Iteration, Done: o.Last, PID: t.pid, Host: n.host, Again: o.Again, Values: o.Values,
		TimeTotal: seconds(v.TrainNS), TimeThisIter: seconds(v.TrainNS - t.last),
		Restored: t.fromCkpt, IterationsSinceRestore: o.Iteration - min(t.restored, o.Iteration), TimeSinceRestore: seconds(v.TrainNS - t.began)}
	t.last = v.TrainNS
	r.Metrics = make([]report.Metric, len(o.Metrics))
	for i, x := range o.Metrics {
		r.Metrics[i] = report.Metric{Name: n.machine.MetricName(x.ID), Value: x.Value}
		t.sums.Add(r.Metrics[i].Name, x.Value)
	}
	t.sums.Each(func(name string, x float64) { r.Totals = append(r.Totals, report.Metric{Name: name, Value: x}) })
	return r
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
