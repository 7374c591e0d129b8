package expr

import (
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// mostSettled limits the work on one constraint, and its tree: conditions within conditions multiply. A larger one is
// evaluated by the host.
const mostSettled = 1000

// settle returns a tree that is false where e cannot be calculated though all its parameters exist; it is unknown where
// e is, if one does not. It returns nil if the tree is too large.
//
// Plugins evaluate a tree in which both are unknown, so that the tree has to ask before each division.
func settle(e *space.Expr, s *Scope) *space.Expr {
	if !canFail(e) {
		return e
	}
	t := settling{mostSettled}
	tree := either(t.sure(e, true), truthConst(true), either(t.sure(e, false), truthConst(false), missing(e, s)))
	if t.left < 0 || size(tree) > mostSettled {
		return nil
	}
	return tree
}

// settling counts its steps down.
type settling struct{ left int }

// sure returns a tree that is 1 where e has that value, and 0 where it has the other or cannot be calculated.
func (t *settling) sure(e *space.Expr, value bool) *space.Expr {
	t.left--
	switch {
	case t.left < 0 || !canFail(e):
		return as(e, value)
	case e.Op == space.Not:
		return t.sure(e.Args[0], !value)
	case e.Op == space.And || e.Op == space.Or:
		each := func(arg *space.Expr) *space.Expr { return t.sure(arg, value) }
		if (e.Op == space.And) == value {
			return join(space.And, e.Args, each)
		}
		return join(space.Or, e.Args, each)
	case e.Op == space.If:
		return t.branch(e, func(arg *space.Expr) *space.Expr { return t.sure(arg, value) })
	}
	return either(t.defined(e), as(e, value), truthConst(false))
}

// defined returns a tree that is 1 where e can be calculated, and 0 where it cannot.
func (t *settling) defined(e *space.Expr) *space.Expr {
	t.left--
	switch {
	case t.left < 0 || !canFail(e):
		return truthConst(true)
	case e.Op == space.And || e.Op == space.Or:
		return &space.Expr{Op: space.Or, Args: []*space.Expr{t.sure(e, true), t.sure(e, false)}}
	case e.Op == space.If:
		return t.branch(e, t.defined)
	}
	all := join(space.And, e.Args, t.defined)
	if divides(e) {
		all.Args = append(all.Args, &space.Expr{Op: space.Ne, Args: []*space.Expr{e.Args[1], {Op: space.Const}}})
	}
	return all
}

// branch asks about the branch that is taken; where the condition cannot be calculated, none is.
func (t *settling) branch(e *space.Expr, ask func(*space.Expr) *space.Expr) *space.Expr {
	return either(t.sure(e.Args[0], true), ask(e.Args[1]),
		either(t.sure(e.Args[0], false), ask(e.Args[2]), truthConst(false)))
}

// canFail reports whether some value of e may not be calculated though all its parameters exist.
func canFail(e *space.Expr) bool { return divides(e) || slices.ContainsFunc(e.Args, canFail) }

// divides reports whether e divides by what may be zero.
func divides(e *space.Expr) bool {
	switch e.Op {
	case space.Div, space.IntDiv, space.Mod:
		return e.Args[1].Op != space.Const || e.Args[1].Number == 0
	}
	return false
}

// undefined is what cannot be calculated.
func undefined() *space.Expr {
	return &space.Expr{Op: space.Div, Args: []*space.Expr{{Op: space.Const}, {Op: space.Const}}}
}

// missing returns a tree that is 0 where all parameters of e exist, and unknown elsewhere.
func missing(e *space.Expr, s *Scope) *space.Expr {
	var params []int
	collect(e, &params)
	if len(params) == 0 {
		return truthConst(false)
	}
	out := &space.Expr{Op: space.Or}
	for _, i := range params {
		value := &space.Expr{Op: space.Number, Param: i}
		if len(s.Params[i].Choices) > 0 {
			out.Args = append(out.Args, &space.Expr{Op: space.In, Param: i})
		} else {
			out.Args = append(out.Args, &space.Expr{Op: space.Ne, Args: []*space.Expr{value, value}})
		}
	}
	return out
}

// collect lists the parameters of e.
func collect(e *space.Expr, params *[]int) {
	if (e.Op == space.Number || e.Op == space.In) && !slices.Contains(*params, e.Param) {
		*params = append(*params, e.Param)
	}
	for _, arg := range e.Args {
		collect(arg, params)
	}
}

func either(condition, then, otherwise *space.Expr) *space.Expr {
	return &space.Expr{Op: space.If, Args: []*space.Expr{condition, then, otherwise}}
}

func join(op space.Op, args []*space.Expr, each func(*space.Expr) *space.Expr) *space.Expr {
	out := &space.Expr{Op: op}
	for _, arg := range args {
		out.Args = append(out.Args, each(arg))
	}
	return out
}

// as returns e, or its negation.
func as(e *space.Expr, value bool) *space.Expr {
	if value {
		return e
	}
	return &space.Expr{Op: space.Not, Args: []*space.Expr{e}}
}

// size returns how many operations e has.
func size(e *space.Expr) int {
	n := 1
	for _, arg := range e.Args {
		n += size(arg)
	}
	return n
}
