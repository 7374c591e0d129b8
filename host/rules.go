package host

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/expr"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// rules are the stop rules that need more than comparing: expressions and
// plateaus. They are evaluated before a result is recorded, and what they say is
// recorded with it.
type rules struct {
	stop    config.Stop
	budget  config.Budget
	strict  []config.MetricRule // {above: x}, {below: x}
	plateau map[core.TrialNo]*plateau
	overall *plateau
	best    float64
	maximum bool
	file    *config.Experiment
}

func newRules(e *config.Experiment) rules {
	r := rules{file: e, stop: e.Stop, budget: e.Budget, plateau: map[core.TrialNo]*plateau{}, best: math.NaN()}
	if len(e.Objectives) > 0 {
		r.maximum = e.Objectives[0].Mode == "max"
	}
	for _, m := range e.Stop.Metrics {
		if m.Above != nil || m.Below != nil {
			r.strict = append(r.strict, m)
		}
	}
	if e.Budget.Plateau != nil {
		r.overall = &plateau{rule: *e.Budget.Plateau}
	}
	return r
}

func (r *rules) needed() bool {
	return r.stop.When != nil || r.stop.Plateau != nil || r.budget.When != nil || r.overall != nil
}

// cut says how much of the batch can be one step: rules look at the machine, so
// that a trial's second result waits for its first to be applied.
func (r *rules) cut(batch []news) int {
	if !r.needed() {
		return len(batch)
	}
	seen := map[core.TrialNo]bool{}
	for i, n := range batch {
		if n.result == nil {
			continue
		}
		if seen[n.result.trial] {
			return i
		}
		seen[n.result.trial] = true
	}
	return len(batch)
}

// result makes the event of a result, with what the rules say of it.
func (r *rules) result(m *core.Machine, names names, x *result) *core.ResultReported {
	e := &core.ResultReported{Trial: x.trial, Attempt: x.attempt, Iteration: x.Iteration, Checkpoint: x.Checkpoint, Done: x.Done}
	e.Metrics = make([]core.Metric, len(x.Metrics))
	for i, y := range x.Metrics {
		id, _ := names.id(y.Name)
		e.Metrics[i] = core.Metric{ID: id, Value: y.Value}
	}
	if m.State(x.trial) == core.Running {
		e.Stop = r.stopReason(m, x)
		e.StopAll = r.budgetReason(m, x)
	}
	return e
}

func (r *rules) stopReason(m *core.Machine, x *result) string {
	for _, s := range r.strict {
		if why := beyond(s, metric(x.Metrics, s.Metric)); why != "" {
			return why
		}
	}
	if r.stop.When != nil && r.holds(r.stop.When, m, x) {
		return "stop.when holds: " + r.stop.When.Source()
	}
	if p := r.stop.Plateau; p != nil {
		t := r.plateau[x.trial]
		if t == nil {
			t = &plateau{rule: *p}
			r.plateau[x.trial] = t
		}
		if t.add(metric(x.Metrics, p.Metric)) {
			delete(r.plateau, x.trial)
			return "plateau of " + p.Metric
		}
	}
	return ""
}

func beyond(s config.MetricRule, x float64) string {
	switch {
	case s.Above != nil && x > *s.Above:
		return fmt.Sprintf("%s is above %s", s.Metric, strconv.FormatFloat(*s.Above, 'g', -1, 64))
	case s.Below != nil && x < *s.Below:
		return fmt.Sprintf("%s is below %s", s.Metric, strconv.FormatFloat(*s.Below, 'g', -1, 64))
	}
	return ""
}

func metric(have []sdk.Metric, name string) float64 {
	for _, x := range have {
		if x.Name == name {
			return x.Value
		}
	}
	return math.NaN()
}

// holds evaluates stop.when; an expression over what is not there is false.
func (r *rules) holds(p *expr.Program, m *core.Machine, x *result) bool {
	v := m.View(x.trial)
	iteration := x.Iteration
	if iteration == 0 {
		iteration = v.Iteration + 1
	}
	ok, err := p.Bool(expr.Values{Params: r.file.Values(v.Params), Metrics: metricsOf(x.Metrics),
		Vars: map[string]any{"iteration": int64(iteration), "time": seconds(v.TrainNS)}})
	return err == nil && ok
}

func (r *rules) budgetReason(m *core.Machine, x *result) string {
	if r.budget.When == nil && r.overall == nil {
		return ""
	}
	objective := metric(x.Metrics, m.Spec().Objectives[0].Metric)
	if r.overall != nil && r.improved(objective) && r.overall.add(r.best) {
		return "plateau of the experiment"
	}
	r.improved(objective)
	if r.budget.When == nil {
		return ""
	}
	ok, err := r.budget.When.Bool(expr.Values{Vars: map[string]any{
		"time": seconds(m.Now()), "trials": int64(m.Count(core.Terminated) + m.Count(core.Errored)),
		"trials_failed": int64(m.Count(core.Errored)), "best": r.best}})
	if err != nil || !ok {
		return ""
	}
	return "budget.when holds: " + r.budget.When.Source()
}

// improved keeps the best value; it says whether there is one.
func (r *rules) improved(x float64) bool {
	if !math.IsNaN(x) && (math.IsNaN(r.best) || r.maximum == (x > r.best) && x != r.best) {
		r.best = x
	}
	return !math.IsNaN(r.best)
}

func metricsOf(list []sdk.Metric) map[string]float64 {
	metrics := make(map[string]float64, len(list))
	for _, x := range list {
		metrics[x.Name] = x.Value
	}
	return metrics
}

// plateau watches whether the last values differ too little, for too long.
type plateau struct {
	rule   config.Plateau
	last   []float64
	seen   int64
	strike int64
}

// add takes the next value and says whether the plateau is reached: the standard
// deviation of the last values stayed within the bound more than Patience times
// after Grace values.
func (p *plateau) add(x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return false
	}
	p.seen++
	p.last = append(p.last, x)
	if n := int64(len(p.last)); n > p.rule.Last {
		p.last = p.last[n-p.rule.Last:]
	}
	if p.seen < p.rule.Grace || int64(len(p.last)) < p.rule.Last || deviation(p.last) > p.rule.Std {
		p.strike = 0
		return false
	}
	p.strike++
	return p.strike > p.rule.Patience
}

func deviation(list []float64) float64 {
	var mean float64
	for i, x := range list {
		mean += float64((x - mean) / float64(i+1))
	}
	var sum float64
	for _, x := range list {
		sum += float64((x - mean) * (x - mean))
	}
	return math.Sqrt(sum / float64(len(list)))
}
