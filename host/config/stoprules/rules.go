// Package stoprules evaluates the rules that stop a trial or the experiment and need more than a
// comparison: expressions and plateaus. The core makes simple comparisons itself.
package stoprules

import (
	"errors"
	"fmt"
	"math"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Rules are the stop rules of one experiment. They are evaluated before a result is recorded, and
// their decision is recorded with it. Their state is a function of the results recorded so far, so
// that a resumed experiment continues with the same counts.
type Rules struct {
	// Warn tells the user that a rule cannot be evaluated, each time; nil: nobody is told.
	Warn func(text string)

	stop    config.Stop
	budget  config.Budget
	strict  []config.MetricRule // {above: x}, {below: x}
	kept    keeper              // the host's own fields
	plateau map[core.TrialNo]*plateau
	limit   int // number of plateaus at which those of ended trials are removed
	overall *bestPlateau
	best    float64
	results int64
	maximum bool
	file    *config.Experiment
	event   core.ResultReported // the last event
}

// New are the rules of a file, before any result.
func New(e *config.Experiment) *Rules {
	r := &Rules{file: e, stop: e.Stop, budget: e.Budget, plateau: map[core.TrialNo]*plateau{}, best: math.NaN()}
	if len(e.Objectives) > 0 {
		r.maximum = e.Objectives[0].Mode == "max"
	}
	for _, m := range e.Stop.Metrics {
		if m.Above != nil || m.Below != nil {
			r.strict = append(r.strict, m)
		}
	}
	r.kept = newKeeper(e.Stop)
	if e.Budget.Plateau != nil {
		r.overall = &bestPlateau{level: level{rule: *e.Budget.Plateau}}
	}
	return r
}

func (r *Rules) needed() bool {
	return r.stop.When != nil || r.stop.Plateau != nil || r.kept.needed || r.budget.When != nil || r.overall != nil
}

// Cut returns how much of the batch can be one step. Rules look at the machine, so that a result must
// wait until the trial's previous result is applied, and any earlier event that may have ended its
// attempt.
func (r *Rules) Cut(batch []inbox.Item) int {
	if !r.needed() {
		return len(batch)
	}
	seen := map[core.TrialNo]bool{}
	other := false
	for i, n := range batch {
		if _, judged := n.Event.(*core.BudgetJudged); judged && i > 0 {
			return i
		}
		if n.Result == nil {
			other = true
			continue
		}
		if other || seen[n.Result.Trial] {
			return i
		}
		seen[n.Result.Trial] = true
	}
	return len(batch)
}

// Result makes the event of a result that is recorded at a time, with the decision of the rules. number
// returns a metric's number. The event is valid until the next call; its record is what is applied.
func (r *Rules) Result(m *core.Machine, at int64, number func(metric string) core.MetricID,
	x *inbox.Result) *core.ResultReported {
	e := &r.event
	*e = core.ResultReported{Trial: x.Trial, Attempt: x.Attempt, Iteration: x.Iteration, Checkpoint: x.Checkpoint,
		Done: x.Done, Values: x.Values, Metrics: e.Metrics[:0]}
	for _, y := range x.Metrics {
		e.Metrics = append(e.Metrics, core.Metric{ID: number(y.Name), Value: y.Value})
	}
	if m.Takes(x.Trial, x.Attempt) {
		r.kept.result(m, x.Trial, x.Attempt, func(count func(string, float64)) {
			for _, y := range x.Metrics {
				count(y.Name, y.Value)
			}
		})
		flat, spent := r.learn(m, x.Trial, func(name string) float64 { return metric(x.Metrics, name) })
		e.Stop = r.stopReason(m, at, x, flat)
		e.StopAll = r.budgetReason(m, spent)
	}
	return e
}

// Judge tests the expression of the budget between results.
func (r *Rules) Judge(m *core.Machine) *core.BudgetJudged {
	return &core.BudgetJudged{Cause: r.budgetReason(m, false)}
}

// Recall learns from a recorded result before it is applied.
func (r *Rules) Recall(m *core.Machine, e core.Event) {
	x, ok := e.(*core.ResultReported)
	if !ok || !r.needed() || !m.Takes(x.Trial, x.Attempt) {
		return
	}
	r.kept.result(m, x.Trial, x.Attempt, func(count func(string, float64)) {
		for _, y := range x.Metrics {
			count(m.MetricName(y.ID), y.Value)
		}
	})
	r.learn(m, x.Trial, func(name string) float64 { return recorded(x.Metrics, m.Metric(name)) })
}

// learn counts a result and reports whether the trial or the experiment is on a plateau with it.
func (r *Rules) learn(m *core.Machine, no core.TrialNo, value func(metric string) float64) (trial, all bool) {
	r.results++
	if o := r.file.Objectives; len(o) > 0 {
		r.improve(value(o[0].Metric))
	}
	if p := r.stop.Plateau; p != nil {
		t := r.plateau[no]
		if t == nil { // a failed trial may continue after a reset
			r.limit = sweep(r.plateau, r.limit, func(no core.TrialNo) bool { return m.State(no) == core.Terminated })
			t = &plateau{level: level{rule: *p}}
			r.plateau[no] = t
		}
		if trial = t.add(value(p.Metric)); trial {
			delete(r.plateau, no)
		}
	}
	return trial, r.overall != nil && r.overall.add(no, value(r.overall.rule.Metric))
}

func (r *Rules) stopReason(m *core.Machine, at int64, x *inbox.Result, flat bool) *core.Cause {
	trained := m.TrainNS(x.Trial) + at - m.Now()
	own := r.kept.fields(m, x, trained)
	for _, s := range r.strict {
		if why := beyond(s, valueOf(s.Metric, x.Metrics, own)); why != nil {
			return why
		}
	}
	if why := r.kept.ruleMet(x.Metrics, own); why != nil {
		return why
	}
	if r.stop.When != nil && r.holds(m, x, trained, own) {
		return &core.Cause{Kind: core.CauseExpression, Text: r.stop.When.Source()}
	}
	if flat {
		return &core.Cause{Kind: core.CausePlateau, Metric: r.stop.Plateau.Metric}
	}
	return nil
}

func beyond(s config.MetricRule, x float64) *core.Cause {
	switch {
	case s.Above != nil && x > *s.Above:
		return &core.Cause{Kind: core.CauseMetricAbove, Metric: s.Metric, Value: *s.Above}
	case s.Below != nil && x < *s.Below:
		return &core.Cause{Kind: core.CauseMetricBelow, Metric: s.Metric, Value: *s.Below}
	}
	return nil
}

func recorded(have []core.Metric, id core.MetricID) float64 {
	for _, x := range have {
		if x.ID == id {
			return x.Value
		}
	}
	return math.NaN()
}

func metric(have []sdk.Metric, name string) float64 {
	for _, x := range have {
		if x.Name == name {
			return x.Value
		}
	}
	return math.NaN()
}

// holds evaluates stop.when for a trial that has trained so long with this result; a missing value makes it false.
func (r *Rules) holds(m *core.Machine, x *inbox.Result, trained int64, own map[string]float64) bool {
	metrics := metricsOf(x.Metrics)
	for name, value := range own {
		if _, reported := metrics[name]; !reported {
			metrics[name] = value
		}
	}
	ok, err := r.stop.When.Bool(expr.Values{Params: r.file.Values(m.Params(x.Trial)), Metrics: metrics,
		Vars: map[string]any{"iteration": int64(iterationOf(m, x)), "time": seconds(trained),
			"training_iteration": int64(iterationOf(m, x)), "time_total_s": seconds(trained),
			sinceIterations: int64(own[sinceIterations]), sinceTime: own[sinceTime]}})
	r.fault("stop.when", err)
	return err == nil && ok
}

// fault tells the user of a rule that fails though no value is missing: it would never hold, in silence.
func (r *Rules) fault(rule string, err error) {
	if r.Warn != nil && errors.Is(err, expr.ErrUnevaluable) {
		r.Warn(fmt.Sprintf("%s does not count: %v", rule, err))
	}
}

// iterationOf returns a result's iteration; a result without one is the next iteration.
func iterationOf(m *core.Machine, x *inbox.Result) uint64 {
	if x.Iteration == 0 {
		return m.View(x.Trial).At + 1
	}
	return x.Iteration
}

func (r *Rules) budgetReason(m *core.Machine, spent bool) *core.Cause {
	if spent {
		return &core.Cause{Kind: core.CauseBudgetPlateau}
	}
	if r.budget.When == nil {
		return nil
	}
	ok, err := r.budget.When.Bool(expr.Values{Vars: map[string]any{
		"time": seconds(m.Counted()), "trials": int64(m.Count(core.Terminated) + m.Count(core.Errored)),
		"trials_failed": int64(m.Count(core.Errored)), "results": r.results, "best": r.best}})
	r.fault("budget.when", err)
	if err != nil || !ok {
		return nil
	}
	return &core.Cause{Kind: core.CauseBudgetExpression, Text: r.budget.When.Source()}
}

// improve keeps the best value.
func (r *Rules) improve(x float64) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) && (math.IsNaN(r.best) || r.maximum == (x > r.best) && x != r.best) {
		r.best = x
	}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

func metricsOf(list []sdk.Metric) map[string]float64 {
	metrics := make(map[string]float64, len(list))
	for _, x := range list {
		metrics[x.Name] = x.Value
	}
	return metrics
}
