package view

import (
	"bytes"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/config/totals"
)

// EventBuilder makes events from the core's observations. It receives all of them, in order and from the
// beginning of the record, so that times and totals are the same after a crash.
type EventBuilder struct {
	machine *core.Machine
	trial   func(core.TrialNo) Subject
	tracks  map[core.TrialNo]*track
	host    string
	// seen is the last observation for reporters, hosts how many hosts have taken over the experiment:
	// both count in the numbers of events.
	seen, hosts uint64
}

// track is what a running trial's next report needs.
type track struct {
	pid      uint32
	restored uint64 // iteration at which the attempt began
	fromCkpt bool
	began    int64 // training time when the attempt began
	last     int64 // training time of the last result
	sums     *totals.Sums
}

// NewEventBuilder follows a machine; trial describes its trials.
func NewEventBuilder(m *core.Machine, trial func(core.TrialNo) Subject) *EventBuilder {
	return &EventBuilder{machine: m, trial: trial, tracks: map[core.TrialNo]*track{}}
}

// number returns the number of an observation's event.
func (b *EventBuilder) number(o *core.Observation) uint64 { return o.Number + b.hosts }

// Last returns the number of the last event.
func (b *EventBuilder) Last() uint64 { return b.seen + b.hosts }

func (b *EventBuilder) now() time.Time { return time.Unix(0, b.machine.Wall(b.machine.Now())) }

// began makes the event of a host's start. It is called before the resulting observations.
func (b *EventBuilder) began() Event {
	b.hosts++
	return Event{Number: b.Last(), Kind: Began, Time: b.now(), Resumed: b.hosts > 1}
}

// update updates the builder by an event that is not an observation, right after it was applied.
func (b *EventBuilder) update(e core.Event, tell func(Event)) {
	switch e := e.(type) {
	case *core.AttemptStarted:
		b.track(e.Trial).pid = e.PID
	case *core.HostStarted:
		b.host = e.Host
		tell(b.began())
	}
}

// event makes the event of an observation. The machine is in the state right after it.
func (b *EventBuilder) event(o *core.Observation) Event {
	b.seen = o.Number
	e := Event{Number: b.number(o), Kind: o.Kind, Time: b.now(), Reason: o.Reason(), Retried: o.Retried,
		Iteration: o.Iteration}
	if o.Kind == core.SawEnd {
		return e
	}
	e.Trial = b.trial(o.Trial)
	e.Trial.State = stateAfter(o.Kind, e.Trial.State)
	if o.Attempt > 0 { // the trial may have been restarted
		e.Trial.Attempt = o.Attempt
	}
	switch o.Kind {
	case core.SawStarted:
		e.Trial.Params = b.machine.Params(o.Trial) // no result has these parameters yet
		e.Restored = b.begin(o)
	case core.SawResult:
		e.Result = b.result(o)
	case core.SawFailed:
		e.Trial.Error = e.Reason
	}
	if b.machine.State(o.Trial).Final() {
		delete(b.tracks, o.Trial)
	}
	return e
}

// stateAfter returns a trial's state right after an observation. It is the machine's, unless the trial
// has changed again in the same step, as one that is added or requeued and starts.
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

// Hear makes events of an entry of the record, right after it was applied: a host's start, and
// observations for reporters. Events up to the number after were told before; they only count.
func (b *EventBuilder) Hear(s *history.Step, after uint64, tell func(Event)) {
	b.update(s.Event, func(e Event) {
		if e.Number > after {
			tell(e)
		}
	})
	for _, a := range s.Actions {
		t, ok := a.(*core.Tell)
		switch {
		case !ok || t.Observation.To&core.ToReporters == 0:
		case b.number(&t.Observation) <= after:
			b.follow(&t.Observation)
		default:
			tell(b.event(&t.Observation))
		}
	}
}

// follow updates the builder by an observation that gives no event.
func (b *EventBuilder) follow(o *core.Observation) {
	b.seen = o.Number
	switch o.Kind {
	case core.SawStarted:
		b.begin(o)
	case core.SawResult:
		t := b.track(o.Trial)
		t.last = b.machine.TrainNS(o.Trial)
		for _, x := range o.Metrics {
			t.sums.Add(b.machine.MetricName(x.ID), x.Value)
		}
	}
	if o.Kind != core.SawEnd && b.machine.State(o.Trial).Final() {
		delete(b.tracks, o.Trial)
	}
}

func (b *EventBuilder) track(no core.TrialNo) *track {
	t := b.tracks[no]
	if t == nil {
		t = &track{sums: totals.New()}
		b.tracks[no] = t
	}
	return t
}

// begin resets the counters of an attempt (B-055).
func (b *EventBuilder) begin(o *core.Observation) uint64 {
	v, t := b.machine.View(o.Trial), b.track(o.Trial)
	t.restored, t.fromCkpt = v.At, v.At > 0 || b.machine.From(o.Trial).ID != 0
	t.began, t.last = v.TrainNS, v.TrainNS
	t.sums.Begin(b.machine, o.Trial)
	return t.restored
}

// result adds the host's own fields (B-016).
func (b *EventBuilder) result(o *core.Observation) *Report {
	t, trained := b.track(o.Trial), b.machine.TrainNS(o.Trial)
	r := &Report{Iteration: o.Iteration, Done: o.Last, PID: t.pid, Host: b.host, Again: o.Again,
		Values:    bytes.Clone(o.Values), // an event outlives the entry, in whose memory they are
		TimeTotal: seconds(trained), TimeThisIter: seconds(trained - t.last),
		Restored: t.fromCkpt, IterationsSinceRestore: o.Iteration - min(t.restored,
			o.Iteration), TimeSinceRestore: seconds(trained - t.began)}
	t.last = trained
	r.Metrics = make([]Metric, len(o.Metrics))
	for i, x := range o.Metrics {
		r.Metrics[i] = Metric{Name: b.machine.MetricName(x.ID), Value: x.Value}
		t.sums.Add(r.Metrics[i].Name, x.Value)
	}
	t.sums.Each(func(name string, x float64) { r.Totals = append(r.Totals, Metric{Name: name, Value: x}) })
	return r
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
