package config

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// conditions compiles and lowers the conditions of searched parameters. A condition may use the
// parameters declared before it.
func (b *builder) conditions(searched, derived []decl) {
	b.e.conditions = make([][]*expr.Program, len(searched))
	b.e.whenAt = map[*expr.Program]Pos{}
	later := map[string]string{}
	for _, d := range derived {
		later[d.name] = "is known only after the search, so no searched parameter can depend on it"
	}
	for _, d := range searched {
		later[d.name] = "is declared later; a condition may use only parameters declared before it"
	}
	lowered := map[*node]*expr.Program{}
	for i, d := range searched {
		s := *b.e.scope
		s.Forbidden = maps.Clone(later)
		s.Forbidden[d.name] = "cannot depend on itself"
		for _, when := range d.whens {
			prg, again := lowered[when]
			if !again {
				prg = b.program(when, &s, expr.Bool)
				lowered[when], b.e.whenAt[prg] = prg, when.pos
			}
			if prg != nil {
				b.condition(i, when, prg, &s)
			}
		}
		delete(later, d.name)
	}
}

func (b *builder) condition(i int, n *node, prg *expr.Program, s *expr.Scope) {
	b.e.conditions[i] = append(b.e.conditions[i], prg)
	lower := expr.Lower
	if b.e.defined {
		lower = expr.LowerCondition
	}
	tree, err := lower(n.text, s)
	switch {
	case errors.Is(err, expr.ErrOpaque):
		b.e.Space.Opaque = true
	case err != nil:
		b.failExpr(n, err)
	case b.e.Space.Params[i].When == nil:
		b.e.Space.Params[i].When = tree
	default:
		b.e.Space.Params[i].When = &space.Expr{Op: space.And, Args: []*space.Expr{b.e.Space.Params[i].When, tree}}
	}
}

func (b *builder) constraints() {
	list := listItems(b.at("constraints"))
	if len(list) > maxRules {
		b.fail(b.at("constraints").pos, "found %d constraints, the limit is %d; join them with &&", len(list), maxRules)
		return
	}
	for _, n := range list {
		prg := b.program(n, b.e.scope, expr.Bool)
		if prg == nil {
			continue
		}
		c := Constraint{Program: prg, Pos: n.pos}
		tree, err := b.lower(n.text)
		switch {
		case errors.Is(err, expr.ErrOpaque):
			c.Opaque, b.e.Space.Opaque = true, true
		case err != nil:
			b.failExpr(n, err)
			continue
		default:
			b.e.Space.Constraints = append(b.e.Space.Constraints, tree)
		}
		b.e.Constraints = append(b.e.Constraints, c)
	}
	b.e.DrawsAgain = b.reading >= drawReading && b.e.drawsConstraints()
}

// draws reports whether computed parameters are random.
func (e *Experiment) draws() bool {
	return slices.ContainsFunc(e.Derived, func(d Derived) bool { return d.Program != nil && d.Program.Random() })
}

// drawsConstraints reports whether a constraint depends on a random number.
func (e *Experiment) drawsConstraints() bool {
	random := map[string]bool{}
	uses := func(p *expr.Program) bool {
		return slices.ContainsFunc(p.Uses(), func(name string) bool { return random[name] })
	}
	for _, d := range e.Derived { // each comes after those it needs
		random[d.Name] = slices.ContainsFunc(d.When, uses) ||
			d.Program != nil && (d.Program.Random() || uses(d.Program))
	}
	return slices.ContainsFunc(e.Constraints, func(c Constraint) bool { return uses(c.Program) })
}

// lower lowers a constraint.
func (b *builder) lower(source string) (*space.Expr, error) {
	if b.e.defined {
		return expr.LowerConstraint(source, b.e.scope)
	}
	return expr.Lower(source, b.e.scope)
}

// listItems returns the items of a list, or a single value as a list of one.
func listItems(n *node) []*node {
	if n == nil {
		return nil
	}
	if n.kind != listKind {
		return []*node{n}
	}
	return n.items
}

// derived compiles computed values and conditional constants, and orders them.
func (b *builder) derived(decls []decl) {
	needs := map[string][]string{}
	made := map[string]Derived{}
	for _, d := range decls {
		v := Derived{Name: d.name, Pos: d.pos}
		s := *b.e.scope
		s.Forbidden = map[string]string{d.name: "cannot depend on itself"}
		for _, when := range d.whens {
			if prg := b.program(when, &s, expr.Bool); prg != nil {
				v.When = append(v.When, prg)
				b.e.whenAt[prg] = when.pos
				needs[d.name] = append(needs[d.name], prg.Uses()...)
			}
		}
		if d.form == "sample" {
			s.Random = true
			if v.Program = b.program(d.value, &s, expr.Any); v.Program == nil {
				continue
			}
			needs[d.name] = append(needs[d.name], v.Program.Uses()...)
		} else {
			v.Value = d.value.json()
		}
		made[d.name] = v
	}
	b.order(decls, made, needs)
}

// order puts each derived value after those it needs, and otherwise keeps the file's order.
func (b *builder) order(decls []decl, made map[string]Derived, needs map[string][]string) {
	state := map[string]int{} // 1: being visited, 2: done
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		v, ok := made[name]
		if !ok || state[name] == 2 {
			return
		}
		path = append(path, name)
		if state[name] == 1 {
			b.fail(v.Pos, "%s depends on itself: %s", quote(name),
				strings.Join(path[slices.Index(path, name):], " needs "))
			return
		}
		state[name] = 1
		for _, need := range needs[name] {
			visit(need, path)
		}
		state[name] = 2
		b.e.Derived = append(b.e.Derived, v)
	}
	for _, d := range decls {
		visit(d.name, nil)
	}
}

// When returns the condition under which a parameter of the space exists, as in the file; "": always.
func (e *Experiment) When(param int) string {
	if param >= len(e.conditions) {
		return ""
	}
	return joined(e.conditions[param])
}

// Condition returns the condition under which the value exists; "": always.
func (d *Derived) Condition() string { return joined(d.When) }

// joined is the text of conditions that must all hold.
func joined(list []*expr.Program) string {
	if len(list) == 1 {
		return list[0].Source()
	}
	var parts []string
	for _, p := range list {
		parts = append(parts, "("+p.Source()+")")
	}
	return strings.Join(parts, " && ")
}
