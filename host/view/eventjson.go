package view

import (
	"strconv"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/jsontext"
)

// eventNames are the names of events in lines of JSON.
var eventNames = map[core.ObservationKind]string{
	core.SawStarted:    "trial_started",
	core.SawResult:     "result",
	core.SawCheckpoint: "checkpoint",
	core.SawPaused:     "trial_paused",
	core.SawCompleted:  "trial_ended",
	core.SawRemoved:    "trial_ended",
	core.SawFailed:     "trial_failed",
	core.SawRequeued:   "trial_requeued",
	core.SawEnd:        "experiment_ended",
}

const eventTime = "2006-01-02T15:04:05.000Z"

// AppendJSON appends the event as a JSON object and a line feed, a line of `run --json`; it appends
// nothing for an event without a line. Package jsonlines documents the fields.
func (e *Event) AppendJSON(b []byte) []byte {
	name, ok := eventNames[e.Kind]
	if !ok {
		return b
	}
	o := object{b}
	o.b = append(o.b, `{"event":"`...)
	o.b = append(append(o.b, name...), '"')
	o.uint("event_number", e.Number)
	o.text("time", e.Time.UTC().Format(eventTime))
	if e.Kind != core.SawEnd {
		o.text("trial", e.Trial.ID)
		o.uint("number", uint64(e.Trial.Number))
		o.uint("attempt", uint64(e.Trial.Attempt))
		o.text("state", e.Trial.State.String())
	}
	o.details(e)
	return append(o.b, "}\n"...)
}

// details appends the fields of a kind of event.
func (o *object) details(e *Event) {
	switch e.Kind {
	case core.SawStarted:
		o.raw("params", e.Trial.Params)
		o.text("dir", e.Trial.Dir)
		if e.Restored > 0 {
			o.uint("restored_from", e.Restored)
		}
	case core.SawResult:
		o.result(e.Result)
	case core.SawCheckpoint:
		o.uint("iteration", e.Iteration)
	case core.SawCompleted, core.SawRemoved:
		o.text("reason", e.Reason)
		if e.Trial.Attempt == 0 {
			o.bool("never_started", true)
		}
	case core.SawFailed:
		o.text("error", e.Failure())
	case core.SawEnd:
		o.text("state", e.Reason)
		o.text("reason", e.Reason)
	case core.SawPaused, core.SawRequeued:
		o.text("reason", e.Reason)
		if why := e.Failure(); why != "" {
			o.text("error", why)
		}
	}
}

func (o *object) result(r *Report) {
	o.uint("iteration", r.Iteration)
	o.metrics("metrics", r.Metrics)
	if len(r.Totals) > 0 {
		o.metrics("totals", r.Totals)
	}
	if len(r.Values) > 0 {
		o.raw("values", r.Values)
	}
	o.bool("done", r.Done)
	o.float("time_total_s", r.TimeTotal)
	o.float("time_this_iter_s", r.TimeThisIter)
	o.uint("pid", uint64(r.PID))
	o.text("host", r.Host)
	if r.Again {
		o.bool("again", true)
	}
	if r.Restored {
		o.uint("iterations_since_restore", r.IterationsSinceRestore)
		o.float("time_since_restore", r.TimeSinceRestore)
	}
}

// object appends the fields of an object after its first.
type object struct{ b []byte }

func (o *object) key(name string) { o.b = append(append(append(o.b, `,"`...), name...), `":`...) }

func (o *object) uint(name string, n uint64) {
	o.key(name)
	o.b = strconv.AppendUint(o.b, n, 10)
}

func (o *object) float(name string, x float64) {
	o.key(name)
	o.b = jsontext.AppendFloat(o.b, x)
}

func (o *object) bool(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) text(name, s string) {
	o.key(name)
	o.b = jsontext.AppendString(o.b, s)
}

func (o *object) raw(name string, json []byte) {
	o.key(name)
	if len(json) == 0 {
		json = []byte("{}")
	}
	o.b = append(o.b, json...)
}

func (o *object) metrics(name string, metrics []Metric) {
	o.key(name)
	o.b = append(o.b, '{')
	last := lastOf(metrics)
	for i, m := range metrics {
		if last(i) != i {
			continue
		}
		if o.b[len(o.b)-1] != '{' {
			o.b = append(o.b, ',')
		}
		o.b = append(jsontext.AppendString(o.b, m.Name), ':')
		o.b = jsontext.AppendFloat(o.b, m.Value)
	}
	o.b = append(o.b, '}')
}

// few is the number of metrics up to which comparing them is faster than a map.
const few = 32

// lastOf returns a function that finds the last metric with the name of the i-th.
func lastOf(metrics []Metric) func(i int) int {
	if len(metrics) <= few {
		return func(i int) int {
			for j := len(metrics) - 1; j > i; j-- {
				if metrics[j].Name == metrics[i].Name {
					return j
				}
			}
			return i
		}
	}
	last := make(map[string]int, len(metrics))
	for i, m := range metrics {
		last[m.Name] = i
	}
	return func(i int) int { return last[metrics[i].Name] }
}

// MarshalJSON writes the line of `run --json` for the event; null if there is none.
func (e Event) MarshalJSON() ([]byte, error) {
	b := e.AppendJSON(nil)
	if len(b) == 0 {
		return []byte("null"), nil
	}
	return b[:len(b)-1], nil
}
