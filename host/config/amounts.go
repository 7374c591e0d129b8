package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
)

// ComputedAmount is an amount of a resource that depends on the parameters of a trial.
type ComputedAmount struct {
	// Bundle is the index of the bundle; 0 without placement.
	Bundle  int
	Name    string // of the resource
	Program *expr.Program
	Pos     Pos
}

// of returns the amount that a trial with these parameters needs, written as in a file.
func (a *ComputedAmount) of(params any) (string, error) {
	known := map[string]any{}
	for _, name := range a.Program.Uses() {
		if v, ok := lookup(params, name); ok {
			known[name] = v
		}
	}
	v, err := a.Program.Eval(expr.Values{Params: known})
	if err != nil {
		return "", fmt.Errorf("%s: %s: %w", a.Pos, a.Name, err)
	}
	f, err := amountOf(v)
	if err != nil {
		return "", fmt.Errorf("%s: %s: %s is %v, expected a number from 0", a.Pos, a.Name, a.Program.Source(), v)
	}
	return strconv.FormatFloat(f, 'f', -1, 64), nil
}

func amountOf(v any) (float64, error) {
	var f float64
	switch v := v.(type) {
	case int64:
		f = float64(v)
	case float64:
		// Arithmetic is exact to about twelve digits; the rest is rounding error.
		f, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	default:
		return 0, errors.New("no number")
	}
	if f < 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, errors.New("no amount")
	}
	return f, nil
}

// PosOfAmount returns the place of an amount: in a bundle of the placement, or in Resources.
func (e *Experiment) PosOfAmount(bundle int, name string) Pos {
	n := e.tree.get("resources")
	if bundles := e.tree.get("placement").get("bundles"); bundles != nil && bundle < len(bundles.items) {
		n = bundles.items[bundle]
	}
	if v := n.get(name); v != nil {
		return v.pos
	}
	return Pos{File: e.File}
}

// amounts returns the constant amounts of a bundle and compiles those that are expressions.
func (b *builder) amounts(n *node, bundle int) map[string]string {
	if n == nil {
		return nil
	}
	plain := map[string]string{}
	for _, e := range n.keys {
		if amountForm().MatchString(e.value.text) {
			plain[e.name] = e.value.text
		} else if prg := b.amountProgram(e.value); prg != nil {
			b.e.Computed = append(b.e.Computed, ComputedAmount{bundle, e.name, prg, e.value.pos})
		}
	}
	return plain
}

// amountProgram compiles an expression over parameters. A text without an operator must be an amount
// or the name of a parameter.
func (b *builder) amountProgram(n *node) *expr.Program {
	prg, err := expr.Compile(n.text, b.e.scope, expr.Any)
	switch {
	case err != nil && b.mentionsDropped(n.text):
	case err == nil && len(prg.Uses()) > 0:
		return b.program(n, b.e.scope, expr.Any)
	case err != nil && strings.ContainsAny(n.text, "+*/()"):
		b.failExpr(n, err)
	default:
		b.fail(n.pos, "found %s, expected %s", n.describe(), expectedAmount)
	}
	return nil
}

// Bundles returns what a trial with these parameters, a JSON object, needs: the amounts of each bundle
// of the placement, or those of Resources.
func (e *Experiment) Bundles(params []byte) ([]map[string]string, error) {
	bundles := e.plainBundles()
	values, err := expr.FromJSON(params)
	if err != nil {
		return nil, err
	}
	for i := range e.Computed {
		c := &e.Computed[i]
		if bundles[c.Bundle][c.Name], err = c.of(values); err != nil {
			return nil, err
		}
	}
	return bundles, nil
}

// plainBundles returns copies of the constant amounts.
func (e *Experiment) plainBundles() (out []map[string]string) {
	if e.Placement == nil {
		return []map[string]string{maps.Clone(e.Resources)}
	}
	for _, b := range e.Placement.Bundles {
		out = append(out, maps.Clone(b))
	}
	return out
}
