// Package translation translates what the core saw for plugins: observations to events, metrics to
// losses.
package translation

import (
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Translator translates what the core saw for plugins. It reads the machine right after the event was
// applied.
type Translator struct {
	Machine *core.Machine
	// Encode finds the point of a trial's parameters.
	Encode func(params []byte) (space.Point, error)
}

// Listener is a plugin that is told what the core saw.
type Listener struct {
	// To is core.ToSearcher or core.ToScheduler.
	To     core.Audience
	Traits sdk.Traits
	// Hear is called with each event. due: the event needs a decision.
	Hear func(e sdk.Event, due bool)
}

// Tell tells a plugin an observation that is meant for it. The error says why the event lacks a point;
// the plugin was told without it.
func (t *Translator) Tell(o core.Observation, l *Listener) error {
	if o.To&l.To == 0 || !l.uses(o.Kind) {
		return nil
	}
	e, err := t.Event(o, l.To, l.Traits)
	l.Hear(e, o.Due)
	return err
}

// uses reports whether the plugin can use an observation: a searcher whose suggestions do not depend on
// results is not told them.
func (l *Listener) uses(kind core.ObservationKind) bool {
	return kind != core.SawResult || l.To != core.ToSearcher || !l.Traits.Independent
}

var eventKinds = [...]sdk.EventKind{
	core.SawAdded: sdk.TrialAdded, core.SawStarted: sdk.TrialStarted, core.SawResult: sdk.ResultReported,
	core.SawPaused: sdk.TrialPaused, core.SawCompleted: sdk.TrialCompleted, core.SawFailed: sdk.TrialFailed,
	core.SawRemoved: sdk.TrialRemoved, core.SawCheckpoint: sdk.CheckpointSaved,
	core.SawRequeued: sdk.TrialRequeued, core.SawEnd: sdk.ExperimentEnded, core.SawSearchEnded: sdk.SearchEnded,
}

// Event translates an observation for a plugin with these traits, the searcher or the scheduler (to).
// A searcher learns the result of its own suggestion: if a scheduler has continued the trial with
// other parameters or from another's checkpoint, that is what the trial had reported before (B-154).
func (t *Translator) Event(o core.Observation, to core.Audience, traits sdk.Traits) (sdk.Event, error) {
	e := sdk.Event{Number: o.Number, Kind: eventKinds[o.Kind], Trial: uint32(o.Trial),
		Attempt: o.Attempt, Iteration: o.Iteration, Reason: o.Reason(), Again: o.Again}
	if o.Learned {
		return e, t.learned(&e, o)
	}
	if o.Runs > 0 {
		e.Trial /= o.Runs
		return e, t.together(&e, o)
	}
	var err error
	switch o.Kind {
	case core.SawAdded:
		e.Point, err = t.Encode(t.Machine.Params(o.Trial))
	case core.SawResult:
		e.Losses = t.losses(o.Metrics)
		e.Seconds, e.SecondsTold = seconds(t.Machine.TrainNS(o.Trial)), t.Machine.TimeTold(o.Trial)
		if traits.Metrics {
			e.Metrics = t.metrics(o.Metrics)
		}
	case core.SawCompleted:
		e.Losses = t.lastLosses(o.Trial)
		e.Seconds, e.SecondsTold = seconds(t.Machine.TrainNS(o.Trial)), t.Machine.TimeTold(o.Trial)
	case core.SawRemoved:
		if o.Last {
			e.Losses = t.lastLosses(o.Trial)
		}
	}
	if to == core.ToSearcher {
		t.asSuggested(&e, o)
		t.untried(&e, o)
	}
	return e, err
}

// untold are ends that say nothing of a trial's parameters, with the rules since when searchers are told so.
var untold = map[core.CauseKind]core.Rules{core.CauseNothingLeft: core.RulesV8, core.CauseFailFast: core.RulesV8,
	core.CauseFailedBudget: core.RulesV8, core.CauseTimeBudget: core.RulesV8, core.CauseBudgetExpression: core.RulesV8,
	core.CauseBudgetPlateau: core.RulesV8, core.CauseUser: core.RulesV9}

// untried reports a trial that came to such an end before its first result as one that was removed: searchers take
// one that completes without a result for a failed one.
func (t *Translator) untried(e *sdk.Event, o core.Observation) {
	if e.Kind != sdk.TrialCompleted || e.Losses != nil || o.Cause == nil {
		return
	}
	if since, ok := untold[o.Cause.Kind]; ok && t.Machine.Spec().Rules >= since {
		e.Kind = sdk.TrialRemoved
	}
}

// asSuggested reports the end of a trial that continued differently as the end of its suggestion.
func (t *Translator) asSuggested(e *sdk.Event, o core.Observation) {
	ended := o.Kind == core.SawCompleted || o.Kind == core.SawFailed || o.Kind == core.SawRemoved
	if !ended || t.Machine.View(o.Trial).Since <= 1 {
		return
	}
	s, ok := t.Machine.Suggested(o.Trial)
	e.Iteration, e.Seconds, e.SecondsTold = 0, 0, false
	if ok {
		e.Iteration, e.Seconds, e.SecondsTold = s.Iteration, seconds(s.TrainNS), t.Machine.TimeTold(o.Trial)
	}
	if e.Losses != nil {
		e.Losses = t.suggestedLosses(o.Trial)
	}
}

// learned translates a trial of another experiment.
func (t *Translator) learned(e *sdk.Event, o core.Observation) (err error) {
	switch o.Kind {
	case core.SawAdded:
		e.Point, err = t.Encode(o.Params)
	case core.SawResult, core.SawCompleted:
		e.Losses = t.losses(o.Metrics)
		e.Seconds = seconds(o.TrainNS)
	}
	return err
}

// together reports all runs of a suggestion as one trial: its losses are the means over the runs that
// count, its time is the sum over all runs (B-105).
func (t *Translator) together(e *sdk.Event, o core.Observation) (err error) {
	if o.Kind == core.SawAdded {
		e.Point, err = t.Encode(t.Machine.Params(o.Trial))
		return err
	}
	var list [][]float64
	e.SecondsTold = true
	for no := o.Trial; no < o.Trial+core.TrialNo(o.Runs); no++ {
		e.Seconds += seconds(t.Machine.TrainNS(no))
		e.SecondsTold = e.SecondsTold && t.Machine.TimeTold(no)
		if losses := t.suggestedLosses(no); losses != nil && t.Machine.Counts(no) {
			list = append(list, losses)
		}
	}
	if o.Kind == core.SawCompleted {
		e.Losses = means(list, t.mean())
	}
	t.untried(e, o)
	return nil
}

// mean returns how losses are averaged. Before [core.RulesV9] it was by their sum, also where that overflows.
func (t *Translator) mean() func([]float64) float64 {
	if t.Machine.Spec().Rules >= core.RulesV9 {
		return stat.Average
	}
	return func(losses []float64) (sum float64) {
		for _, x := range losses {
			sum = float64(sum + x)
		}
		return sum / float64(len(losses))
	}
}

// means returns the mean of each objective; nil for none. A value that cannot be compared makes its
// mean incomparable.
func means(list [][]float64, mean func([]float64) float64) (of []float64) {
	if len(list) == 0 {
		return nil
	}
	for i := range list[0] {
		column := make([]float64, len(list))
		for k, losses := range list {
			column[k] = losses[i]
		}
		x := mean(column)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			x = math.Inf(1)
		}
		of = append(of, x)
	}
	return of
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// losses returns the values of the objectives: smaller is better, +Inf for what cannot be compared
// (B-015).
func (t *Translator) losses(have []core.Metric) []float64 {
	objectives, ids := t.Machine.Spec().Objectives, t.Machine.Objectives()
	losses := make([]float64, len(objectives))
	for i, o := range objectives {
		losses[i] = loss(o, valueOf(have, ids[i]))
	}
	return losses
}

func valueOf(have []core.Metric, id core.MetricID) float64 {
	for _, x := range have {
		if x.ID == id {
			return x.Value
		}
	}
	return math.NaN()
}

func loss(o core.Objective, x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Inf(1)
	}
	if o.Mode == stat.Max {
		return -x
	}
	return x
}

// lastLosses returns the losses of the last result; nil if there is none.
func (t *Translator) lastLosses(no core.TrialNo) []float64 {
	if t.Machine.View(no).Results == 0 {
		return nil
	}
	return t.lossesOf(func(id core.MetricID) (stat.Summary, bool) { return t.Machine.Summary(no, id) })
}

// suggestedLosses returns the losses of the last result of the suggestion itself; nil if there is
// none.
func (t *Translator) suggestedLosses(no core.TrialNo) []float64 {
	s, ok := t.Machine.Suggested(no)
	if !ok {
		return nil
	}
	return t.lossesOf(func(id core.MetricID) (stat.Summary, bool) { return t.Machine.SummaryIn(&s, id) })
}

func (t *Translator) lossesOf(summary func(core.MetricID) (stat.Summary, bool)) []float64 {
	objectives, ids := t.Machine.Spec().Objectives, t.Machine.Objectives()
	losses := make([]float64, len(objectives))
	for i, o := range objectives {
		x := math.NaN()
		if s, ok := summary(ids[i]); ok {
			x = s.Last
		}
		losses[i] = loss(o, x)
	}
	return losses
}

func (t *Translator) metrics(have []core.Metric) []sdk.Metric {
	list := make([]sdk.Metric, len(have))
	for i, x := range have {
		list[i] = sdk.Metric{Name: t.Machine.MetricName(x.ID), Value: x.Value}
	}
	slices.SortFunc(list, func(a, b sdk.Metric) int { return strings.Compare(a.Name, b.Name) })
	return list
}
