package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Lower compiles src, a condition or constraint over the parameters of s, to the tree that plugins
// evaluate. The error is [ErrOpaque] for a valid expression that has no such tree; [Compile] handles
// it. It is for experiments that began when a list could have a value though an item has none.
func Lower(src string, s *Scope) (*space.Expr, error) { return new(lowering).lower(src, s) }

// LowerCondition is [Lower] for the condition of a parameter: the parameter exists where the tree is true.
func LowerCondition(src string, s *Scope) (*space.Expr, error) {
	l := &lowering{strict: true}
	return l.lower(src, s)
}

// LowerConstraint is [Lower] for a constraint that is false where it divides by zero, or where a calculation gives no
// number. Its tree is unknown only where a parameter that it names does not exist.
func LowerConstraint(src string, s *Scope) (*space.Expr, error) {
	l := &lowering{strict: true, settles: true}
	tree, err := l.lower(src, s)
	if err != nil {
		return nil, err
	}
	if tree = settle(tree, s); tree == nil {
		return nil, l.opaque(l.checked.NativeRep().Expr())
	}
	return tree, nil
}

// Doubts lists parts of src that are valid but probably not intended: values that no choice of a
// parameter has, and divisions that drop a rest.
func Doubts(src string, s *Scope) []*Error {
	c, err := compile(src, s, Any)
	if err != nil {
		return nil
	}
	var doubts []*Error
	root := c.checked.NativeRep().Expr()
	if s.Random {
		doubts = c.quotient(root)
	}
	ast.PreOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		doubts = append(append(doubts, c.doubt(e)...), c.divisions(e)...)
	}))
	return doubts
}

func (c *compiled) doubt(e ast.Expr) (doubts []*Error) {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return nil
	}
	args := slices.Clone(e.AsCall().Args())
	switch e.AsCall().FunctionName() {
	case operators.Equals, operators.NotEquals:
		if _, ok := c.param(args[0]); !ok {
			args[0], args[1] = args[1], args[0]
		}
		return c.notAChoice(args[0], args[1:2])
	case operators.In:
		if args[1].Kind() == ast.ListKind {
			return c.notAChoice(args[0], args[1].AsList().Elements())
		}
	}
	return nil
}

func (c *compiled) notAChoice(param ast.Expr, values []ast.Expr) (doubts []*Error) {
	i, ok := c.param(param)
	if !ok || len(c.scope.Params[i].Choices) == 0 {
		return nil
	}
	p := &c.scope.Params[i]
	var choices []string
	for k := range p.Choices {
		choices = append(choices, fmt.Sprint(Choice(p, k)))
	}
	for _, v := range values {
		if v.Kind() != ast.LiteralKind {
			continue
		}
		if text := fmt.Sprint(v.AsLiteral().Value()); !slices.Contains(choices, text) {
			doubts = append(doubts, &Error{c.column(v),
				fmt.Sprintf("%s is not a choice of %s%s", Quote(text), p.Name, nearest.Hint(text, choices))})
		}
	}
	return doubts
}

// param returns the index of the parameter that e names.
func (c *compiled) param(e ast.Expr) (int, bool) {
	if e.Kind() != ast.IdentKind {
		return 0, false
	}
	name, ok := strings.CutPrefix(e.AsIdent(), paramPrefix)
	if !ok {
		return 0, false
	}
	return slices.IndexFunc(c.scope.Params, func(p space.Param) bool { return p.Name == name }), true
}

type lowering struct {
	*compiled
	strict  bool // a list has no value if an item has none
	settles bool // values that cannot be calculated are told from those of missing parameters, see [settle]
}

func (l *lowering) lower(src string, s *Scope) (tree *space.Expr, err error) {
	if l.compiled, err = compile(src, s, Bool); err != nil {
		return nil, err
	}
	return l.truth(l.checked.NativeRep().Expr())
}

func (l *lowering) opaque(e ast.Expr) error {
	return fmt.Errorf("%s: column %d: %w", line(l.source), l.column(e), ErrOpaque)
}

func (l *lowering) typeOf(e ast.Expr) *cel.Type { return l.checked.NativeRep().GetType(e.ID()) }

// truth lowers an expression that is true or false.
func (l *lowering) truth(e ast.Expr) (*space.Expr, error) {
	if e.Kind() == ast.CallKind {
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.LogicalAnd:
			return l.args(space.And, l.truth, call.Args()...)
		case operators.LogicalOr:
			return l.args(space.Or, l.truth, call.Args()...)
		case operators.LogicalNot:
			return l.args(space.Not, l.truth, call.Args()...)
		case operators.Conditional:
			return l.args(space.If, l.truth, call.Args()...)
		}
	}
	if lowered, ok := l.tabulate(e); ok {
		return lowered, nil
	}
	if e.Kind() != ast.CallKind {
		return nil, l.opaque(e)
	}
	return l.comparison(e)
}

func (l *lowering) args(op space.Op, lower func(ast.Expr) (*space.Expr, error), args ...ast.Expr) (*space.Expr, error) {
	out := &space.Expr{Op: op}
	for _, a := range args {
		x, err := lower(a)
		if err != nil {
			return nil, err
		}
		if x.Op == op && (op == space.And || op == space.Or) {
			out.Args = append(out.Args, x.Args...)
			continue
		}
		out.Args = append(out.Args, x)
	}
	return out, nil
}

// tabulate lowers a truth that depends on no parameter, or on one choice alone, by evaluating it for
// each value. This covers ==, in, text functions, maps and the rest of CEL.
func (l *lowering) tabulate(e ast.Expr) (*space.Expr, bool) {
	i, n := l.dependsOn(e)
	if n > 1 || n == 1 && len(l.scope.Params[i].Choices) == 0 {
		return nil, false
	}
	prg, err := l.program(e)
	if err != nil {
		return nil, false
	}
	if n == 0 {
		holds, err := prg.Bool(Values{})
		return truthConst(holds), err == nil
	}
	return l.table(prg, i)
}

func (l *lowering) table(prg *Program, i int) (*space.Expr, bool) {
	p := &l.scope.Params[i]
	out, known := &space.Expr{Op: space.In, Param: i}, &space.Expr{Op: space.In, Param: i}
	for k := range p.Choices {
		holds, err := prg.Bool(Values{Params: map[string]any{p.Name: Choice(p, k)}})
		switch {
		case err != nil && !(l.settles && IsUndefined(err)):
			return nil, false
		case err == nil:
			known.Set = append(known.Set, k)
		}
		if holds {
			out.Set = append(out.Set, k)
		}
	}
	if len(known.Set) < len(p.Choices) {
		return &space.Expr{Op: space.If, Args: []*space.Expr{known, out, undefined()}}, true
	}
	return out, true
}

func truthConst(holds bool) *space.Expr {
	if holds {
		return &space.Expr{Op: space.Const, Number: 1}
	}
	return &space.Expr{Op: space.Const}
}

// dependsOn returns how many parameters e depends on, and one of them. A value that only the host
// knows counts as many.
func (l *lowering) dependsOn(e ast.Expr) (param, count int) {
	for _, hidden := range hiddenNames(e) {
		name, isParam := strings.CutPrefix(hidden, paramPrefix)
		if !isParam && !strings.HasPrefix(hidden, constPrefix) {
			return 0, 2
		}
		if isParam {
			param = slices.IndexFunc(l.scope.Params, func(p space.Param) bool { return p.Name == name })
			count++
		}
	}
	return param, count
}

var comparisons = map[string]space.Op{
	operators.Less: space.Lt, operators.LessEquals: space.Le, operators.Greater: space.Gt,
	operators.GreaterEquals: space.Ge, operators.Equals: space.Eq, operators.NotEquals: space.Ne,
}

func (l *lowering) comparison(e ast.Expr) (*space.Expr, error) {
	call := e.AsCall()
	args := call.Args()
	if call.FunctionName() == operators.In {
		return l.inList(e)
	}
	op, ok := comparisons[call.FunctionName()]
	if !ok {
		return nil, l.opaque(e)
	}
	if l.isNumber(args[0]) && l.isNumber(args[1]) {
		return l.args(op, l.number, args...)
	}
	if l.typeOf(args[0]) == cel.BoolType && l.typeOf(args[1]) == cel.BoolType && (op == space.Eq || op == space.Ne) {
		return l.args(op, l.truth, args...)
	}
	return nil, l.opaque(e)
}

func (l *lowering) isNumber(e ast.Expr) bool {
	k := l.typeOf(e).Kind()
	return k == types.IntKind || k == types.DoubleKind
}

// inList lowers `x in [a, b]` for numbers to x == a || x == b.
func (l *lowering) inList(e ast.Expr) (*space.Expr, error) {
	x, list := e.AsCall().Args()[0], e.AsCall().Args()[1]
	if !l.isNumber(x) || list.Kind() != ast.ListKind || list.AsList().Size() == 0 {
		return nil, l.opaque(e)
	}
	out, known := &space.Expr{Op: space.Or}, &space.Expr{Op: space.And}
	for _, item := range list.AsList().Elements() {
		if !l.isNumber(item) {
			return nil, l.opaque(item)
		}
		eq, err := l.args(space.Eq, l.number, x, item)
		if err != nil {
			return nil, err
		}
		out.Args = append(out.Args, eq)
		if value := eq.Args[1]; l.strict && value.Op != space.Const {
			known.Args = append(known.Args, &space.Expr{Op: space.Eq, Args: []*space.Expr{value, value}})
		}
	}
	if len(known.Args) > 0 { // also if another item is equal to x
		return either(known, out, truthConst(false)), nil
	}
	return out, nil
}

var arithmeticOps = map[string]space.Op{
	operators.Add: space.Add, operators.Subtract: space.Sub, operators.Multiply: space.Mul,
	operators.Divide: space.Div, operators.Modulo: space.Mod, operators.Negate: space.Neg,
}

// number lowers a numeric expression.
func (l *lowering) number(e ast.Expr) (*space.Expr, error) {
	if _, n := l.dependsOn(e); n == 0 {
		return l.constant(e)
	}
	if i, ok := l.param(e); ok && l.isNumber(e) {
		return &space.Expr{Op: space.Number, Param: i}, nil
	}
	if e.Kind() != ast.CallKind || !l.isNumber(e) {
		return nil, l.opaque(e)
	}
	return l.calculation(e)
}

func (l *lowering) calculation(e ast.Expr) (*space.Expr, error) {
	call := e.AsCall()
	args := call.Args()
	for _, a := range args {
		if !l.isNumber(a) && l.typeOf(a) != cel.BoolType {
			return nil, l.opaque(a)
		}
	}
	op, ok := arithmeticOps[call.FunctionName()]
	switch {
	case ok && op == space.Div && l.typeOf(e) == cel.IntType:
		return l.args(space.IntDiv, l.number, args...)
	case ok:
		return l.args(op, l.number, args...)
	case call.FunctionName() == "double":
		return l.number(args[0])
	case call.FunctionName() == operators.Conditional:
		return l.choose(args)
	}
	return nil, l.opaque(e)
}

func (l *lowering) choose(args []ast.Expr) (*space.Expr, error) {
	condition, err := l.truth(args[0])
	if err != nil {
		return nil, err
	}
	out, err := l.args(space.If, l.number, args[1:]...)
	if err != nil {
		return nil, err
	}
	out.Args = append([]*space.Expr{condition}, out.Args...)
	return out, nil
}

// neverDefined says of a calculation with constants alone, which is undefined, that it is so at every point.
func neverDefined(err error) string {
	const always = "this part has no value, whatever the parameters are"
	return strings.Replace(err.Error(), ErrUnknownValue.Error(), always, 1) + "; write the expression without it"
}

func (l *lowering) constant(e ast.Expr) (*space.Expr, error) {
	prg, err := l.program(e)
	if err != nil {
		return nil, err
	}
	v, err := prg.Eval(Values{})
	if l.settles && IsUndefined(err) && len(hiddenNames(e)) > 0 {
		return undefined(), nil // a constant of the user that another part of the constraint may look at
	}
	if errors.Is(err, ErrUndefined) {
		return nil, &Error{l.column(e), neverDefined(err)}
	}
	if err != nil {
		return nil, &Error{l.column(e), err.Error()}
	}
	switch v := v.(type) {
	case int64:
		return &space.Expr{Op: space.Const, Number: float64(v)}, nil
	case float64:
		return &space.Expr{Op: space.Const, Number: v}, nil
	}
	return nil, l.opaque(e)
}
