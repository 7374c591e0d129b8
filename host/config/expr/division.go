package expr

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// dropsRest is why a division of whole numbers is doubtful.
const dropsRest = "/ divides whole numbers here and drops the rest (7 / 2 is 3); for the exact value write * 1.0 " +
	"before it"

// divisions lists divisions of whole numbers whose exact value was probably meant: what e compares or calculates with
// real numbers, and literals.
func (c *compiled) divisions(e ast.Expr) (doubts []*Error) {
	if e.Kind() != ast.CallKind {
		return nil
	}
	if isDivision(e) && c.isWhole(e) && restOf(e.AsCall().Args()) {
		doubts = append(doubts, &Error{c.column(e), dropsRest})
	}
	args := e.AsCall().Args()
	if c.isWhole(e) || !slices.ContainsFunc(args, c.isReal) && !c.isReal(e) {
		return doubts
	}
	for _, a := range args {
		if d := c.divided(a); d != nil && !restOf(d.AsCall().Args()) {
			doubts = append(doubts, &Error{c.column(d), dropsRest})
		}
	}
	return doubts
}

// quotient lists the division of which a computed value consists, unless it is by a literal, as in `width / 2`.
func (c *compiled) quotient(e ast.Expr) []*Error {
	d := c.divided(e)
	if d == nil || d.AsCall().Args()[1].Kind() == ast.LiteralKind {
		return nil
	}
	return []*Error{{c.column(d), dropsRest + ", and int() around it if you mean this"}}
}

// divided returns the division in a whole number that is calculated.
func (c *compiled) divided(e ast.Expr) ast.Expr {
	if e.Kind() != ast.CallKind || !c.isWhole(e) || arithmeticOps[e.AsCall().FunctionName()] == 0 {
		return nil
	}
	if isDivision(e) {
		return e
	}
	for _, a := range e.AsCall().Args() {
		if d := c.divided(a); d != nil {
			return d
		}
	}
	return nil
}

func isDivision(e ast.Expr) bool { return e.AsCall().FunctionName() == operators.Divide }

func (c *compiled) kindOf(e ast.Expr) types.Kind { return c.checked.NativeRep().GetType(e.ID()).Kind() }

func (c *compiled) isWhole(e ast.Expr) bool { return c.kindOf(e) == types.IntKind }

func (c *compiled) isReal(e ast.Expr) bool { return c.kindOf(e) == types.DoubleKind }

// restOf reports whether two literals divide with a rest.
func restOf(args []ast.Expr) bool {
	var n [2]types.Int
	for i, a := range args {
		if a.Kind() != ast.LiteralKind {
			return false
		}
		n[i], _ = a.AsLiteral().(types.Int)
	}
	return n[1] != 0 && n[0]%n[1] != 0
}
