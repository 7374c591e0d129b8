package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/expr"
	"github.com/tunehost/tunehost/host/nearest"
)

// Select returns the trials for which where holds, in the order of sort; both
// may be empty. where is an expression over parameters, the last metrics and
// [config.TrialVars]. sort is a metric, a parameter or one of [SortKeys]: an objective from the
// best to the worst, all else from the least to the largest, with a "-" before it the other way
// round; trials without a value come last. NaN is the worst of an objective, and behind all
// other values elsewhere.
func (e *Experiment) Select(where, sort string) ([]Trial, error) {
	list, err := e.filter(where)
	if err != nil || sort == "" {
		return list, err
	}
	return list, e.sort(list, sort)
}

func (e *Experiment) filter(where string) ([]Trial, error) {
	all := e.Trials()
	if where == "" {
		return all, nil
	}
	p, err := e.config.Where(where)
	if err != nil {
		return nil, fmt.Errorf("--where: %w", err)
	}
	for _, name := range p.Metrics() {
		if err := e.checkName(name); err != nil {
			return nil, fmt.Errorf("--where: %w", err)
		}
	}
	list := all[:0]
	for i := range all {
		ok, err := p.Bool(e.values(&all[i]))
		if err != nil && !errors.Is(err, expr.ErrUnknownValue) {
			return nil, fmt.Errorf("--where: %w", err)
		}
		if ok {
			list = append(list, all[i])
		}
	}
	return list, nil
}

// checkName is checkMetric, with all names that an expression may have meant.
func (e *Experiment) checkName(name string) error {
	if e.checkMetric(name) == nil {
		return nil
	}
	known := append(e.MetricNames(), e.ParamNames()...)
	for v := range config.TrialVars {
		known = append(known, v)
	}
	return fmt.Errorf("%q is neither a parameter nor a metric that was reported%s", name, nearest.Hint(name, known))
}

func (e *Experiment) values(t *Trial) expr.Values {
	metrics := make(map[string]float64, len(t.Metrics))
	for _, m := range t.Metrics {
		metrics[m.Name] = m.Value
	}
	return expr.Values{Params: e.config.Values(t.Params), Metrics: metrics, Vars: map[string]any{
		"trial": t.ID, "number": int64(t.Number), "state": t.State.String(), "iteration": int64(t.Iteration),
		"results": int64(t.Results), "failures": int64(t.Failures), "error": t.Error, "reason": t.Reason,
		"cause": t.Cause.Kind.String()}}
}

// ParamNames are the full names of parameters, in the order of the file:
// searched, computed, constant.
func (e *Experiment) ParamNames() []string {
	var names []string
	for i := range e.config.Space.Params {
		names = append(names, e.config.Space.Params[i].Name)
	}
	for i := range e.config.Derived {
		names = append(names, e.config.Derived[i].Name)
	}
	for i := range e.config.Constants {
		names = append(names, e.config.Constants[i].Name)
	}
	return names
}

// SortKeys are what trials are sorted by beside metrics and parameters.
var SortKeys = []string{"number", "state", "iteration", "results", "failures", "started", "ended", "time"}

// key is a value to sort by; ok is false where the trial has none.
type key struct {
	number float64
	text   string
	ok     bool
}

func (e *Experiment) sort(list []Trial, by string) error {
	by, reverse := strings.CutPrefix(by, "-")
	keyOf, mode, err := e.sortKey(by)
	if err != nil {
		return err
	}
	keys := make(map[core.TrialNo]key, len(list))
	for i := range list {
		keys[list[i].Number] = keyOf(&list[i])
	}
	slices.SortStableFunc(list, func(a, b Trial) int {
		x, y := keys[a.Number], keys[b.Number]
		if x.ok != y.ok || !x.ok {
			return -compareBool(x.ok, y.ok)
		}
		c := cmp.Or(stat.Compare(x.number, y.number, mode), strings.Compare(x.text, y.text))
		switch {
		case reverse && e.isObjective(by): // NaN is the worst
			return -c
		case reverse:
			return cmp.Or(stat.Compare(x.number, y.number, other(mode)), strings.Compare(y.text, x.text))
		}
		return c
	})
	return nil
}

func (e *Experiment) isObjective(metric string) bool {
	return slices.ContainsFunc(e.Objectives(), func(o core.Objective) bool { return o.Metric == metric })
}

func other(m stat.Mode) stat.Mode {
	if m == stat.Min {
		return stat.Max
	}
	return stat.Min
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (e *Experiment) sortKey(by string) (func(*Trial) key, stat.Mode, error) {
	if f := fixedKey(by); f != nil {
		return f, stat.Min, nil
	}
	if slices.Contains(e.ParamNames(), by) {
		return func(t *Trial) key { return paramKey(e.config.Values(t.Params)[by]) }, stat.Min, nil
	}
	if err := e.checkMetric(by); err != nil {
		known := slices.Concat(e.MetricNames(), e.ParamNames(), SortKeys)
		return nil, 0, fmt.Errorf("--sort: %q is neither a metric that was reported nor a parameter%s", by, nearest.Hint(by, known))
	}
	return func(t *Trial) key {
		v, ok := t.Metric(by)
		return key{number: v, ok: ok}
	}, e.modeOf(by), nil
}

// modeOf is the objective's. Nobody knows what is good of another metric: the least is first.
func (e *Experiment) modeOf(metric string) stat.Mode {
	for _, o := range e.Objectives() {
		if o.Metric == metric {
			return o.Mode
		}
	}
	return stat.Min
}

func fixedKey(by string) func(*Trial) key {
	switch by {
	case "number":
		return func(t *Trial) key { return key{number: float64(t.Number), ok: true} }
	case "state":
		return func(t *Trial) key { return key{number: float64(t.State), ok: true} }
	case "iteration":
		return func(t *Trial) key { return key{number: float64(t.Iteration), ok: true} }
	case "results":
		return func(t *Trial) key { return key{number: float64(t.Results), ok: true} }
	case "failures":
		return func(t *Trial) key { return key{number: float64(t.Failures), ok: true} }
	case "started":
		return func(t *Trial) key { return key{number: float64(t.Started.UnixNano()), ok: !t.Started.IsZero()} }
	case "ended":
		return func(t *Trial) key { return key{number: float64(t.Ended.UnixNano()), ok: !t.Ended.IsZero()} }
	case "time":
		return func(t *Trial) key { return key{number: t.Seconds, ok: true} }
	}
	return nil
}

func paramKey(v any) key {
	switch v := v.(type) {
	case nil:
		return key{}
	case int64:
		return key{number: float64(v), ok: true}
	case float64:
		return key{number: v, ok: true}
	}
	return key{text: fmt.Sprint(v), ok: true}
}
