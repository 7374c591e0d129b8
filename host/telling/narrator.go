package telling

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/report"
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
	pid       uint32
	restored  uint64 // iteration that the attempt began from
	fromCkpt  bool
	began     int64 // training time when the attempt began
	last      int64 // training time of the last result
	sums      map[string]float64
	sinceSums map[string]float64
}

// NewNarrator follows a machine; trial is what is said of its trials.
func NewNarrator(m *core.Machine, trial func(core.TrialNo) report.Trial) *Narrator {
	return &Narrator{machine: m, trial: trial, tracks: map[core.TrialNo]*track{}}
}

// Number is the event's of an observation.
func (n *Narrator) Number(o core.Observation) uint64 { return o.Number + n.hosts }

// Last is the number of the last event.
func (n *Narrator) Last() uint64 { return n.seen + n.hosts }

func (n *Narrator) now() time.Time { return time.Unix(0, n.machine.Wall(n.machine.Now())) }

// began makes a report of a host's start. It is called before those of the
// observations that the start has led to.
func (n *Narrator) began() report.Event {
	n.hosts++
	return report.Event{Number: n.Last(), Kind: report.Began, Time: n.now(), Resumed: n.hosts > 1}
}

// Heard takes note of what is no observation, right after it was applied.
func (n *Narrator) Heard(e core.Event, tell func(report.Event)) {
	switch e := e.(type) {
	case *core.AttemptStarted:
		n.track(e.Trial).pid = e.PID
	case *core.HostStarted:
		n.host = e.Host
		tell(n.began())
	}
}

// Event makes a report of an observation. The machine is as it was right after.
func (n *Narrator) Event(o core.Observation) report.Event {
	n.seen = o.Number
	e := report.Event{Number: n.Number(o), Kind: o.Kind, Time: n.now(), Reason: o.Reason, Retried: o.Retried, Iteration: o.Iteration}
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
		e.Trial.Error = o.Reason
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

// Follow takes note of an observation that nobody needs a report of.
func (n *Narrator) Follow(o core.Observation) {
	n.seen = o.Number
	switch o.Kind {
	case core.SawStarted:
		n.begin(o)
	case core.SawResult:
		t := n.track(o.Trial)
		t.last = n.machine.View(o.Trial).TrainNS
		for _, x := range o.Metrics {
			t.count(report.Metric{Name: n.machine.MetricName(x.ID), Value: x.Value})
		}
	}
	if o.Kind != core.SawEnd && n.machine.State(o.Trial).Final() {
		delete(n.tracks, o.Trial)
	}
}

func (n *Narrator) track(no core.TrialNo) *track {
	t := n.tracks[no]
	if t == nil {
		t = &track{sums: map[string]float64{}, sinceSums: map[string]float64{}}
		n.tracks[no] = t
	}
	return t
}

// begin starts the counters of an attempt anew (B-055).
func (n *Narrator) begin(o core.Observation) uint64 {
	v, t := n.machine.View(o.Trial), n.track(o.Trial)
	t.restored, t.fromCkpt = v.At, v.At > 0 || n.machine.From(o.Trial).ID != 0
	t.began, t.last = v.TrainNS, v.TrainNS
	clear(t.sinceSums)
	clear(t.sums)
	n.machine.EachSummaryOfAll(o.Trial, t.recall(n.machine))
	return t.restored
}

// recall makes the totals those of the results that still count, of all the trial's
// stretches, which the machine knows: what came after the checkpoint will be reported again (B-061).
func (t *track) recall(m *core.Machine) func(core.MetricID, stat.Summary) {
	return func(id core.MetricID, s stat.Summary) {
		if name, ok := counter(m.MetricName(id)); ok && s.Finite > 0 {
			t.sums[name] = float64(t.sums[name] + whole(float64(s.Mean*float64(s.Finite))))
		}
	}
}

// whole undoes the rounding of a mean of whole numbers.
func whole(x float64) float64 {
	if n := math.Round(x); math.Abs(x-n) <= 1e-9*math.Abs(x) {
		return n
	}
	return x
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
		t.count(r.Metrics[i])
	}
	r.Totals = t.totals()
	return r
}

// counter is the name of what a metric counts per iteration.
func counter(metric string) (name string, ok bool) {
	name, ok = strings.CutSuffix(metric, "_this_iter")
	return name, ok && name != "time"
}

// count sums a counter that is reported per iteration.
func (t *track) count(x report.Metric) {
	if name, ok := counter(x.Name); ok {
		t.sums[name] = float64(t.sums[name] + x.Value)
		t.sinceSums[name] = float64(t.sinceSums[name] + x.Value)
	}
}

func (t *track) totals() (list []report.Metric) {
	for name, sum := range t.sums {
		list = append(list, report.Metric{Name: name + "_total", Value: sum}, report.Metric{Name: name + "_since_restore", Value: t.sinceSums[name]})
	}
	slices.SortFunc(list, func(a, b report.Metric) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
