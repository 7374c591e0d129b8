// Package outcomes says how trials ended, for searchers that learn from each trial
// once: populations, for example. A trial that is paused has ended as far as it
// goes; its later results are not looked at.
package outcomes

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Outcome is a trial that has ended with a result, or failed.
type Outcome struct {
	Trial uint32
	Point space.Point
	// Losses are those of its last result; all +Inf where it failed, or where
	// one of them is no finite number.
	Losses []float64
}

// Finite says whether the trial has a result that can be compared.
func (o *Outcome) Finite() bool { return !math.IsInf(o.Losses[0], 1) }

// Finite says whether all losses are finite numbers.
func Finite(losses []float64) bool {
	for _, x := range losses {
		if bad(x) {
			return false
		}
	}
	return true
}

// Tally is 1 for losses that are there and finite, otherwise 0.
func Tally(losses []float64) int {
	if len(losses) > 0 && Finite(losses) {
		return 1
	}
	return 0
}

// Trials are those that have not ended.
type Trials struct {
	dims, objectives int
	open             map[uint32]*Outcome
}

// New makes an empty list.
func New(problem sdk.Problem) *Trials {
	return &Trials{dims: len(problem.Space.Params), objectives: max(1, len(problem.Objectives)), open: map[uint32]*Outcome{}}
}

// Observe takes an event, and returns the outcome of the trial that it ends: nil if
// it ends none, or one that was taken away before it had a result.
func (t *Trials) Observe(e *sdk.Event) (*Outcome, error) {
	if n := len(e.Losses); n != 0 && n != t.objectives {
		return nil, fmt.Errorf("a result of trial %d has %d losses; there are %d objectives", e.Trial, n, t.objectives)
	}
	if e.Kind == sdk.TrialAdded {
		if len(e.Point) != t.dims {
			return nil, fmt.Errorf("trial %d has %d values; the space has %d parameters", e.Trial, len(e.Point), t.dims)
		}
		t.open[e.Trial] = &Outcome{Trial: e.Trial, Point: slices.Clone(e.Point)}
		return nil, nil
	}
	o := t.open[e.Trial]
	if o == nil {
		return nil, nil
	}
	if len(e.Losses) > 0 {
		o.Losses = slices.Clone(e.Losses)
	}
	return t.end(e.Kind, o), nil
}

// end returns the outcome, if the event is an end.
func (t *Trials) end(kind sdk.EventKind, o *Outcome) *Outcome {
	switch kind {
	case sdk.TrialPaused:
		if o.Losses == nil {
			return nil // it may go on to its first result
		}
	case sdk.TrialRemoved:
		if o.Losses == nil {
			delete(t.open, o.Trial)
			return nil
		}
	case sdk.TrialFailed:
		o.Losses = nil
	case sdk.TrialCompleted:
	default:
		return nil
	}
	delete(t.open, o.Trial)
	if o.Losses == nil || slices.ContainsFunc(o.Losses, bad) {
		o.Losses = slices.Repeat([]float64{math.Inf(1)}, t.objectives)
	}
	return o
}

func bad(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
