package sim

import (
	"bytes"
	"math"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// belongs checks that a trial's last value was reported at the iteration that it shows, by an attempt
// with the parameters that it shows (B-154).
func (b *books) belongs() {
	m := b.machine
	for no := range core.TrialNo(m.Trials()) {
		s, reported := m.Summary(no, m.Metric("score"))
		if v := m.View(no); reported && !b.measured(v, s.Last) {
			b.fail("trial %d shows %v at iteration %d with %s, which no attempt with these parameters has reported", no,
				s.Last, v.Iteration, v.Params)
		}
	}
}

// measured finds the report of a value. A metric that is missing in later results keeps its value.
func (b *books) measured(v core.View, value float64) bool {
	for a := uint32(1); a <= v.Attempt; a++ {
		k := attempt{v.Number, a}
		if !bytes.Equal(b.with[k], v.Params) {
			continue
		}
		if !b.machine.Spec().StrictMetrics {
			return true
		}
		if x, ok := b.produced[resultKey{k, v.Iteration}]; ok && (x == value || math.IsNaN(x) && math.IsNaN(value)) {
			return true
		}
	}
	return false
}

// asSuggested reports a trial's end to the searcher as that of its suggestion: if a scheduler changed
// the trial, with the last result before the change.
func (b *books) asSuggested(e *sdk.Event, o core.Observation) {
	ended := o.Kind == core.SawCompleted || o.Kind == core.SawFailed || o.Kind == core.SawRemoved
	if o.Runs > 0 || !ended || b.machine.View(o.Trial).Since <= 1 {
		return
	}
	s, ok := b.machine.Suggested(o.Trial)
	e.Iteration, e.Seconds = s.Iteration, float64(s.TrainNS)/1e9
	if !ok {
		e.Iteration, e.Seconds, e.Losses = 0, 0, nil
		return
	}
	if e.Losses != nil {
		e.Losses = []float64{b.suggestedLoss(o.Trial, &s)}
	}
}

// untried reports to the searcher a trial that ended with the experiment or by the user before its first result, or
// that had nothing left to train, as one that was removed.
func (b *books) untried(e *sdk.Event, o core.Observation) {
	if e.Kind != sdk.TrialCompleted || e.Losses != nil || b.machine.Spec().Rules < core.RulesV8 {
		return
	}
	switch o.Cause.Kind {
	case core.CauseNothingLeft, core.CauseFailFast, core.CauseFailedBudget, core.CauseTimeBudget,
		core.CauseBudgetExpression, core.CauseBudgetPlateau:
		e.Kind = sdk.TrialRemoved
	case core.CauseUser:
		if b.machine.Spec().Rules >= core.RulesV9 {
			e.Kind = sdk.TrialRemoved
		}
	}
}

func (b *books) suggestedLoss(no core.TrialNo, s *core.Stretch) float64 {
	last := math.NaN()
	if x, ok := b.machine.SummaryIn(s, b.machine.Metric("score")); ok {
		last = x.Last
	}
	return b.lossOf(last)
}
