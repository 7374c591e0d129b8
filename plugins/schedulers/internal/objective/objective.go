// Package objective selects the objective by which a scheduler compares trials, and formats its
// losses as values of the metric.
package objective

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
	options "github.com/tunehost/tunehost/plugins/sdk/option"
)

// An Objective is the one that is compared.
type Objective struct {
	index  int
	metric string
	max    bool
}

// Choose returns the objective whose metric is name. An empty name means the only objective; it is
// an error if there are several.
func Choose(p sdk.Problem, name string) (Objective, error) {
	if name == "" && len(p.Objectives) > 1 {
		return Objective{}, fmt.Errorf("the experiment has %d objectives and trials are compared by one: set the "+
			"option objective to one of %s",
			len(p.Objectives), names(p))
	}
	if name == "" && len(p.Objectives) == 1 {
		name = p.Objectives[0].Metric
	}
	return Named(p, "objective", name)
}

// Named returns the objective whose metric is name, set by the user as the option.
func Named(p sdk.Problem, option, name string) (Objective, error) {
	for i, o := range p.Objectives {
		if o.Metric == name {
			return Objective{index: i, metric: o.Metric, max: o.Mode == sdk.Max}, nil
		}
	}
	return Objective{}, options.Wrong(option, name, "the objectives of the experiment: %s", names(p))
}

func names(p sdk.Problem) string {
	all := make([]string, len(p.Objectives))
	for i, o := range p.Objectives {
		all[i] = o.Metric
	}
	return strings.Join(all, ", ")
}

// Loss returns the event's loss, never NaN, and +Inf if it has none.
func (o Objective) Loss(e *sdk.Event) float64 {
	if o.index >= len(e.Losses) || math.IsNaN(e.Losses[o.index]) {
		return math.Inf(1)
	}
	return e.Losses[o.index]
}

// Name returns the name of the metric.
func (o Objective) Name() string { return o.metric }

// Append appends the metric's name and the loss as a value of the metric.
func (o Objective) Append(text []byte, loss float64) []byte {
	text = append(append(text, o.metric...), ' ')
	return o.AppendValue(text, loss)
}

// AppendValue appends the loss as a value of the metric, with four digits.
func (o Objective) AppendValue(text []byte, loss float64) []byte {
	if math.IsInf(loss, 1) {
		return append(text, "(not finite)"...)
	}
	return strconv.AppendFloat(text, o.flip(loss), 'g', 4, 64)
}

// FromValue returns the loss for a value of the metric.
func (o Objective) FromValue(value float64) float64 { return o.flip(value) }

func (o Objective) flip(x float64) float64 {
	if o.max {
		return 0 - x // not -x, to avoid a negative zero
	}
	return x
}

// Text is Append as a string.
func (o Objective) Text(loss float64) string { return string(o.Append(nil, loss)) }

// Value is AppendValue as a string.
func (o Objective) Value(loss float64) string { return string(o.AppendValue(nil, loss)) }
