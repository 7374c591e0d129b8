package view

import "github.com/tunehost/tunehost/core"

// causeJSON is a cause for programs: its kind, and the fields of that kind. The reason has its text
// for people.
type causeJSON struct {
	Kind      string        `json:"kind"`
	Trial     *core.TrialNo `json:"trial,omitempty"`
	Count     uint32        `json:"count,omitempty"`
	Iteration uint64        `json:"iteration,omitempty"`
	Seconds   Float         `json:"seconds,omitempty"`
	Value     *Float        `json:"value,omitempty"`
	Metric    string        `json:"metric,omitempty"`
	By        string        `json:"by,omitempty"`
	Text      string        `json:"text,omitempty"`
}

// causeShape returns null if there is no cause.
func causeShape(c core.Cause) *causeJSON {
	if c.Kind == core.CauseNone {
		return nil
	}
	shape := &causeJSON{Kind: c.Kind.String(), Count: c.Count, Iteration: c.Iteration,
		Seconds: Float(float64(c.NS) / 1e9),
		Metric:  c.Metric, By: c.By, Text: c.Text}
	switch c.Kind {
	case core.CauseNothingLeft:
		shape.Trial = &c.Trial
	case core.CauseMetricReached, core.CauseMetricAbove, core.CauseMetricBelow:
		value := Float(c.Value)
		shape.Value = &value
	}
	return shape
}
