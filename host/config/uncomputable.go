package config

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Uncomputable returns why a parameter has no value at a point, with the values of others and what to do. It is nil for
// other points. It does not look at constraints, which may take long.
func (e *Experiment) Uncomputable(p space.Point, seed uint64) error {
	x := e.Prune(slices.Clone(p))
	if x.err != nil {
		return x.err
	}
	return x.compute(seed)
}

// excepted says for which values a condition or a constraint cannot be evaluated, and what to do.
func (e *Experiment) excepted(c *expr.Program, err error, v expr.Values) string {
	where := e.where(c.Uses(), c, err, v)
	if errors.Is(err, expr.ErrTooLong) {
		return where + "; write a shorter one"
	}
	return where + "; say first when it can be: EXPR && " + oneLine(c.Source())
}

// advice says for which values a computed parameter has failed, and what to do.
func (e *Experiment) advice(d *Derived, err error, v expr.Values) string {
	names, whens := d.Program.Uses(), e.lacking(d, err, v)
	for _, when := range whens {
		names = append(slices.Clip(names), when.Uses()...)
	}
	if len(whens) > 0 {
		return fmt.Sprintf("%s; give %s the same condition, when: %s", e.where(names, d.Program, err, v), quote(d.Name),
			quote(oneLine(joined(whens))))
	}
	return fmt.Sprintf("%s; give %s another expression, or a condition that leaves this out, when: EXPR",
		e.where(names, d.Program, err, v), quote(d.Name))
}

// lacking returns the conditions of parameters that do not exist and because of which a computed one has failed.
func (e *Experiment) lacking(d *Derived, err error, v expr.Values) (whens []*expr.Program) {
	if !errors.Is(err, expr.ErrUnknownValue) || expr.IsUndefined(err) {
		return nil
	}
	for _, name := range d.Program.Uses() {
		if !e.has(name, v) {
			whens = append(whens, e.conditionsOf(name)...)
		}
	}
	return whens
}

// conditionsOf returns the conditions of a parameter.
func (e *Experiment) conditionsOf(name string) []*expr.Program {
	if i := slices.IndexFunc(e.Space.Params, func(p space.Param) bool { return p.Name == name }); i >= 0 {
		return e.conditions[i]
	}
	if i := slices.IndexFunc(e.Derived, func(d Derived) bool { return d.Name == name }); i >= 0 {
		return e.Derived[i].When
	}
	return nil
}

// where says for which values an expression has failed.
func (e *Experiment) where(names []string, p *expr.Program, err error, v expr.Values) string {
	var distinct []string
	for _, name := range names {
		if !slices.Contains(distinct, name) {
			distinct = append(distinct, name)
		}
	}
	switch {
	case len(distinct) > 0:
		return " where " + e.shown(distinct, v)
	case p.Random() && !errors.Is(err, expr.ErrUnevaluable):
		return " for some random numbers"
	}
	return ""
}
