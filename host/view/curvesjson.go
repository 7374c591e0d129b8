package view

import (
	"strconv"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/jsontext"
)

// AppendJSON appends the curves as encoding/json writes them, without reflection: they are the largest answer that a
// page asks for again and again.
func (x LearningCurves) AppendJSON(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"metric":`...), x.Metric)
	if x.Mode != "" {
		b = jsontext.AppendString(append(b, `,"mode":`...), x.Mode)
	}
	b = strconv.AppendInt(append(b, `,"total":`...), int64(x.Total), 10)
	b = append(b, `,"trials":[`...)
	for i := range x.Trials {
		b = append(x.Trials[i].appendJSON(separated(b, i)), '}')
	}
	return append(appendBest(append(b, ']'), x.Best), '}')
}

// appendBest appends the field with the best trials.
func appendBest(b []byte, best []core.TrialNo) []byte {
	b = append(b, `,"best":[`...)
	for i, no := range best {
		b = strconv.AppendUint(separated(b, i), uint64(no), 10)
	}
	return append(b, ']')
}

// separated appends the comma between elements.
func separated(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// appendJSON appends a curve without its last brace.
func (c *LearningCurve) appendJSON(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"number":`...), uint64(c.Number), 10)
	b = jsontext.AppendString(append(b, `,"trial":`...), c.Trial)
	b = jsontext.AppendString(append(b, `,"state":`...), c.State)
	if c.WasRunning {
		b = append(b, `,"was_running":true`...)
	}
	if c.Cause != "" {
		b = jsontext.AppendString(append(b, `,"cause":`...), c.Cause)
	}
	if c.Reason != "" {
		b = jsontext.AppendString(append(b, `,"reason":`...), c.Reason)
	}
	if c.Stopped {
		b = append(b, `,"stopped":true`...)
	}
	b = append(b, `,"iterations":[`...)
	for i, n := range c.Iterations {
		b = strconv.AppendUint(separated(b, i), n, 10)
	}
	return c.Values.appendJSON(append(b, `],"values":`...))
}

// AppendJSON appends the steps as encoding/json writes them, without reflection.
func (x Improving) AppendJSON(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"metric":`...), x.Metric)
	b = jsontext.AppendString(append(b, `,"mode":`...), x.Mode)
	b = strconv.AppendInt(append(b, `,"total":`...), int64(x.Total), 10)
	b = append(b, `,"steps":[`...)
	for i := range x.Steps {
		b = append(x.Steps[i].appendJSON(separated(b, i)), '}')
	}
	if b = append(b, ']'); x.Rerun > 0 {
		b = strconv.AppendInt(append(b, `,"rerun":`...), int64(x.Rerun), 10)
	}
	return append(appendBest(b, x.Best), '}')
}

// appendJSON appends a step without its last brace.
func (x *ImprovingAt) appendJSON(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"trial":`...), x.Trial)
	b = strconv.AppendUint(append(b, `,"number":`...), uint64(x.Number), 10)
	b = jsontext.AppendFloat(append(b, `,"value":`...), float64(x.Value))
	b = jsontext.AppendFloat(append(b, `,"best":`...), float64(x.Best))
	b = jsontext.AppendFloat(append(b, `,"at_s":`...), float64(x.Seconds))
	b = strconv.AppendInt(append(b, `,"trials_ended":`...), int64(x.Ended), 10)
	if x.Running {
		b = append(b, `,"running":true`...)
	}
	b = jsontext.AppendString(append(b, `,"state":`...), x.State)
	if x.WasRunning {
		b = append(b, `,"was_running":true`...)
	}
	return b
}
