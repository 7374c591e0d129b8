package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/nearest"
)

// SortKeys are the sort keys beside metrics and parameters. Those of [runKey] stand back behind a metric or a parameter
// of the same name, which could be sorted by before they were there.
var SortKeys = []string{"number", "state", "iteration", "results", "failures", "started", "ended", "time", "attempts",
	"node", "cause"}

// key is a trial's value to sort by; ok is false if it has none.
type key struct {
	no     core.TrialNo
	number float64
	text   string
	ok     bool
}

// order is the order of keys.
type order struct {
	mode      stat.Mode
	reverse   bool
	objective bool
}

func (o order) compare(x, y key) int {
	if x.ok != y.ok || !x.ok {
		return -compareBool(x.ok, y.ok)
	}
	c := cmp.Or(stat.Compare(x.number, y.number, o.mode), strings.Compare(x.text, y.text))
	switch {
	case o.reverse && o.objective: // NaN is the worst
		return -c
	case o.reverse:
		return cmp.Or(stat.Compare(x.number, y.number, other(o.mode)), strings.Compare(y.text, x.text))
	}
	return c
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

// sorting gives trials their sort keys.
func (s *State) sorting(w *wanted, by string) error {
	by, reverse := strings.CutPrefix(by, "-")
	w.order = order{mode: s.modeOf(by), reverse: reverse, objective: s.isObjective(by)}
	w.keyOf = func(t *Trial) key {
		v, ok := t.Metric(by)
		return key{number: v, ok: ok}
	}
	if w.order.objective { // also where a parameter or another key has its name
		return nil
	}
	return s.sortingOther(w, by)
}

// sortingOther gives trials their sort keys where those are not of an objective.
func (s *State) sortingOther(w *wanted, by string) error {
	asMetric := w.keyOf
	if w.keyOf = fixedKey(by); w.keyOf != nil {
		return nil
	}
	if slices.Contains(s.ParamNames(), by) {
		w.keyOf = func(t *Trial) key { return paramKey(w.facts.Config.Values(t.Params)[by]) }
		return nil
	}
	if w.keyOf = runKey(by); w.keyOf != nil && s.Machine.Metric(by) == 0 {
		return nil
	}
	w.keyOf = asMetric
	if err := s.checkMetric(by); err != nil {
		known := slices.Concat(s.MetricNames(), s.ParamNames(), SortKeys)
		return fmt.Errorf("--sort: %s is neither a metric that was reported nor a parameter%s", expr.Quote(by),
			nearest.Hint(by,
				known))
	}
	return nil
}

// modeOf returns an objective's mode. For another metric it is unknown which values are good: the
// least comes first.
func (f *Facts) modeOf(metric string) stat.Mode {
	for _, o := range f.Objectives() {
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

// runKey returns the keys of how a trial ran.
func runKey(by string) func(*Trial) key {
	switch by {
	case "attempts":
		return func(t *Trial) key { return key{number: float64(t.Attempt), ok: true} }
	case "node":
		return func(t *Trial) key { return key{text: t.Node, ok: t.Node != ""} }
	case "cause":
		return func(t *Trial) key { return key{text: t.Cause.Kind.String(), ok: t.Cause.Kind != core.CauseNone} }
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
