package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/nearest"
)

// ending reads stop and budget.
func (b *builder) ending() {
	if n := b.root.get("stop"); n != nil && !b.bad["stop"] {
		b.stop(n)
	}
	n := b.root.get("budget")
	if n == nil || b.bad["budget"] {
		return
	}
	f := fields{n, budget}
	b.e.Budget = Budget{TrialsFailed: f.integer("trials_failed"), Plateau: b.plateau(n.get("plateau"))}
	b.e.Budget.Time, _ = durationOf(n.get("time"))
	if when := n.get("when"); when != nil {
		b.e.Budget.When = b.program(when, &expr.Scope{Vars: budgetVars}, expr.Bool)
		if p := b.e.Budget.When; p != nil && slices.Contains(p.Vars(), "best") && len(b.e.Objectives) > 1 {
			b.warn(when.pos, "best is the best %s, the first of the objectives: if you mean another one, write it "+
				"first", b.e.Objectives[0].Metric)
		}
	}
}

func (b *builder) stop(n *node) {
	f := fields{n, stop}
	s := &b.e.Stop
	s.Iteration = f.integer("iteration")
	if again := n.get("training_iteration"); again != nil {
		if n.has("iteration") {
			b.fail(again.pos, `found both "iteration" and "training_iteration", expected one of them`)
		}
		s.Iteration = f.integer("training_iteration")
	}
	s.Time, _ = durationOf(n.get("time"))
	if again := n.get("time_total_s"); again != nil {
		if n.has("time") {
			b.fail(again.pos, `found both "time" and "time_total_s", expected one of them`)
		}
		s.Time, _ = durationOf(again)
	}
	s.Plateau = b.plateau(n.get("plateau"))
	if p := n.get("plugin"); p != nil {
		ref := refOf(p)
		s.Plugin = &ref
	}
	if when := n.get("when"); when != nil {
		s.When = b.program(when, b.e.metricScope(StopVars), expr.Bool)
	}
	for _, e := range n.keys {
		if s, fixed := stop.find(e.name).(*either); fixed && s == stop.extra {
			b.metricRule(e)
		}
	}
}

func (b *builder) metricRule(e entry) {
	if strings.TrimSpace(e.name) == "" {
		b.fail(e.pos, "found a rule without a name, expected that of a metric, such as accuracy: 0.9")
		return
	}
	b.metric(e.pos, e.name)
	known := keyNames(stop.keys)
	plugin := b.root.get("stop").get("plugin")
	for _, o := range b.e.Objectives {
		if o.Metric == e.name {
			known = nil
		}
	}
	_, kept := StopVars[e.name]
	kept = kept || strings.HasPrefix(e.name, "timesteps_") // totals of the counters of trials
	switch hint := nearest.Hint(e.name, known); {
	case known == nil || kept:
	case plugin != nil && plugin.kind != mapKind && e.value.kind != mapKind:
		b.warn(e.pos, "%s is taken as a metric; write options of the plugin as plugin: {plugin: %s, %s: %s}",
			e.name, plugin.text, e.name, e.value.text)
	case e.name == "trials" || budget.find(e.name) != nil:
		b.warn(e.pos, "%s is taken as a metric of a trial; limits of the experiment go into budget, and trials "+
			"to the top level", quote(e.name))
	case hint != "":
		b.warn(e.pos, "%s is taken as a metric%s", quote(e.name), hint)
	}
	rule := MetricRule{Metric: e.name}
	if e.value.kind == mapKind {
		f := fields{e.value, bound}
		rule.Above, rule.Below = f.real("above"), f.real("below")
		if rule.Above == nil && rule.Below == nil {
			b.fail(e.value.pos, "found an empty rule, expected {above: x} or {below: x}")
		}
	} else {
		x, _ := e.value.float()
		rule.Reach, rule.Mode = &x, b.modeOf(e.name)
		if known != nil && isLoss(e.name) {
			b.warn(e.pos, "%s is not an objective, so the rule holds for values of %s and more; "+
				"where less is better write %s: {below: %s}",
				quote(e.name), e.value.text, e.name, e.value.text)
		}
	}
	b.e.Stop.Metrics = append(b.e.Stop.Metrics, rule)
}

// modeOf returns the direction of a metric: the objective's, else "max".
func (b *builder) modeOf(metric string) string {
	for _, o := range b.e.Objectives {
		if o.Metric == metric {
			return o.Mode
		}
	}
	return "max"
}

func (b *builder) plateau(n *node) *Plateau {
	if n == nil {
		return nil
	}
	f := fields{n, plateau}
	p := &Plateau{Metric: f.text("metric"), Mode: f.text("mode"), Last: f.integer("last"), Grace: f.integer("grace"),
		Patience: f.integer("patience")}
	p.Std, _ = f.at("std").float()
	if p.Metric == "" && len(b.e.Objectives) > 0 {
		p.Metric = b.e.Objectives[0].Metric
		b.firstOfSeveral(n)
	}
	if p.Mode == "" {
		p.Mode = b.modeOf(p.Metric)
	}
	return p
}

// firstOfSeveral warns of a plateau that does not say of which objective it is.
func (b *builder) firstOfSeveral(plateau *node) {
	var names []string
	for _, o := range b.e.Objectives {
		names = append(names, o.Metric)
	}
	if len(names) > 1 {
		b.warn(plateau.pos, "the plateau is that of %s, the first of the objectives: write which you mean, metric: %s",
			names[0], strings.Join(names, " or "))
	}
}

// failExpr reports a mistake of an expression at its place in the file.
func (b *builder) failExpr(n *node, err error) {
	if b.mentionsDropped(n.text) {
		return
	}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		b.fail(n.at(e.Column), "%s", e.Msg)
		return
	}
	b.fail(n.pos, "%s", err)
}
