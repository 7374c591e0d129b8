// Package outcomes reports how trials ended, for searchers that learn from each trial once, such as
// populations. A paused trial counts as ended; its later results are ignored.
package outcomes

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// An Outcome is a trial that has ended with a result, or failed.
type Outcome struct {
	Trial uint32
	Point space.Point
	// Losses are those of its last result; all are +Inf if it failed, or if one of them is not
	// finite.
	Losses []float64
	// Again is set if the trial had failed before: this outcome takes the place of that one.
	Again bool
}

// Finite reports whether the trial has a result that can be compared.
func (o *Outcome) Finite() bool { return !math.IsInf(o.Losses[0], 1) }

// Finite reports whether all losses are finite numbers.
func Finite(losses []float64) bool {
	for _, x := range losses {
		if bad(x) {
			return false
		}
	}
	return true
}

// Tally returns 1 for existing, finite losses, otherwise 0.
func Tally(losses []float64) int {
	if len(losses) > 0 && Finite(losses) {
		return 1
	}
	return 0
}

// Place adds an outcome to a list, in which it takes the place of the trial's failure.
func Place(list []*Outcome, o *Outcome) []*Outcome {
	if o.Again {
		list = slices.DeleteFunc(list, func(failed *Outcome) bool { return failed.Trial == o.Trial })
	}
	return append(list, o)
}

// Trials are the trials that have not ended, and those that failed: the user may run these again.
type Trials struct {
	dims, objectives int
	open             map[uint32]*Outcome
}

// New returns an empty list.
func New(problem sdk.Problem) *Trials {
	return &Trials{dims: len(problem.Space.Params), objectives: max(1, len(problem.Objectives)),
		open: map[uint32]*Outcome{}}
}

// Observe processes an event and returns the outcome of the trial that it ends, or nil. A trial
// removed before it had a result has no outcome. One that failed has another outcome if it runs again and then has a
// result that can be compared.
func (t *Trials) Observe(e *sdk.Event) (*Outcome, error) {
	if n := len(e.Losses); n != 0 && n != t.objectives {
		return nil, fmt.Errorf("a result of trial %d has %d losses; there are %d objectives", e.Trial, n, t.objectives)
	}
	if e.Kind == sdk.TrialAdded {
		if len(e.Point) != t.dims {
			return nil, fmt.Errorf("the point of trial %d has length %d; expected %d, one for each parameter", e.Trial,
				len(e.Point), t.dims)
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

// end returns the outcome if the event is an end.
func (t *Trials) end(kind sdk.EventKind, o *Outcome) *Outcome {
	switch kind {
	case sdk.TrialPaused:
		if o.Losses == nil {
			return nil // it may continue to its first result
		}
	case sdk.TrialRemoved:
		if o.Losses == nil {
			delete(t.open, o.Trial)
			return nil
		}
	case sdk.TrialFailed:
		return t.fail(o)
	case sdk.TrialCompleted:
	default:
		return nil
	}
	delete(t.open, o.Trial)
	if o.Losses == nil || slices.ContainsFunc(o.Losses, bad) {
		o.Losses = t.none()
	}
	if o.Again && !o.Finite() {
		return nil // it counts as failed already
	}
	return o
}

// fail returns the outcome of a trial that fails for the first time, and goes on to follow the trial.
func (t *Trials) fail(o *Outcome) *Outcome {
	first := !o.Again
	o.Again, o.Losses = true, nil
	if !first {
		return nil
	}
	return &Outcome{Trial: o.Trial, Point: o.Point, Losses: t.none()}
}

// none returns the losses of a trial without a result.
func (t *Trials) none() []float64 { return slices.Repeat([]float64{math.Inf(1)}, t.objectives) }

func bad(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
