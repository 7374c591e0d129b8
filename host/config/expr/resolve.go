package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/tunehost/tunehost/host/nearest"
)

// Prefixes of the hidden variables that names resolve to; CEL source cannot contain them.
const (
	paramPrefix    = "@param:"
	constPrefix    = "@const:"
	computedPrefix = "@computed:"
	varPrefix      = "@var:"
	paramsName     = "@params"
	metricsName    = "@metrics"
)

// resolver replaces the names of an expression by hidden variables, in place.
type resolver struct {
	scope  *Scope
	source *ast.SourceInfo
	fac    ast.ExprFactory
	nextID int64
	known  map[string]string // full name -> hidden variable
	bound  []string          // variables of the enclosing comprehensions
	errs   []*Error
}

func newResolver(s *Scope, parsed *ast.AST) *resolver {
	r := &resolver{scope: s, source: parsed.SourceInfo(), fac: ast.NewExprFactory(), nextID: ast.MaxID(parsed) + 1,
		known: map[string]string{}}
	for _, p := range s.Params {
		r.known[p.Name] = paramPrefix + p.Name
	}
	for name := range s.Constants {
		r.known[name] = constPrefix + name
	}
	for _, name := range s.Computed {
		r.known[name] = computedPrefix + name
	}
	return r
}

func (r *resolver) id(like int64) int64 {
	r.nextID++
	if where, ok := r.source.GetOffsetRange(like); ok {
		r.source.SetOffsetRange(r.nextID, where)
	}
	return r.nextID
}

func (r *resolver) fail(id int64, format string, args ...any) {
	r.errs = append(r.errs, &Error{r.source.GetStartLocation(id).Column() + 1, fmt.Sprintf(format, args...)})
}

// failCall reports a mistake at the name of the function that e calls; CEL has the place of the
// bracket.
func (r *resolver) failCall(e ast.Expr, format string, args ...any) {
	r.fail(e.ID(), format, args...)
	last := r.errs[len(r.errs)-1]
	last.Column = max(1, last.Column-len(e.AsCall().FunctionName()))
}

func (r *resolver) walk(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind, ast.SelectKind:
		r.name(e)
	case ast.CallKind:
		r.call(e)
	case ast.ListKind:
		r.all(e.AsList().Elements())
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			r.walk(entry.AsMapEntry().Key())
			r.walk(entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		r.fail(e.ID(), "found a message %s, expected a plain value", Quote(e.AsStruct().TypeName()+"{...}"))
	case ast.ComprehensionKind:
		r.comprehension(e.AsComprehension())
	}
}

func (r *resolver) all(list []ast.Expr) {
	for _, e := range list {
		r.walk(e)
	}
}

func (r *resolver) comprehension(c ast.ComprehensionExpr) {
	r.walk(c.IterRange())
	r.walk(c.AccuInit())
	outer := len(r.bound)
	r.bound = append(r.bound, c.IterVar(), c.IterVar2(), c.AccuVar())
	r.all([]ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()})
	r.bound = r.bound[:outer]
}

func (r *resolver) call(e ast.Expr) {
	c := e.AsCall()
	name := c.FunctionName()
	if name == operators.Index && len(c.Args()) == 2 && textLiteral(c.Args()[1]) != nil {
		r.name(e)
		return
	}
	if c.IsMemberFunction() {
		r.walk(c.Target())
	}
	r.all(c.Args())
	arity, random := randomArity[name]
	switch {
	case random && !c.IsMemberFunction():
		r.random(e, arity)
	case !slices.Contains(functionNames(r.scope.Random), name):
		r.failCall(e, "no function %s%s", Quote(name), nearest.Hint(name, functionNames(r.scope.Random)))
	}
}

func (r *resolver) random(e ast.Expr, arity int) {
	c := e.AsCall()
	switch {
	case !r.scope.Random:
		r.failCall(e, "%s() is random, and only a sample may be", c.FunctionName())
	case len(c.Args()) != arity:
		r.failCall(e, "%s() takes %d arguments, not %d", c.FunctionName(), arity, len(c.Args()))
	default:
		args := append([]ast.Expr{r.fac.NewIdent(r.id(e.ID()), rngName)}, c.Args()...)
		e.SetKindCase(r.fac.NewCall(e.ID(), c.FunctionName(), args...))
	}
}

// chain is a name with its selections: root.path[0].path[1]; nodes[i] is the expression that ends at
// path[i-1], nodes[0] the root.
type chain struct {
	root  string
	path  []string
	nodes []ast.Expr
}

func textLiteral(e ast.Expr) *string {
	if e.Kind() != ast.LiteralKind {
		return nil
	}
	s, ok := e.AsLiteral().(types.String)
	if !ok {
		return nil
	}
	text := string(s)
	return &text
}

// chainOf splits e; ok is false where e does not start with a name.
func chainOf(e ast.Expr) (c chain, ok bool) {
	switch {
	case e.Kind() == ast.IdentKind:
		return chain{root: e.AsIdent(), nodes: []ast.Expr{e}}, true
	case e.Kind() == ast.SelectKind:
		c, ok = chainOf(e.AsSelect().Operand())
		c.path = append(c.path, e.AsSelect().FieldName())
	case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index:
		field := textLiteral(e.AsCall().Args()[1])
		if field == nil {
			return chain{}, false
		}
		c, ok = chainOf(e.AsCall().Args()[0])
		c.path = append(c.path, *field)
	default:
		return chain{}, false
	}
	c.nodes = append(c.nodes, e)
	return c, ok
}

func (r *resolver) name(e ast.Expr) {
	c, ok := chainOf(e)
	if !ok {
		r.inner(e)
		return
	}
	if slices.Contains(r.bound, c.root) {
		return
	}
	if r.parameter(c) || r.metric(c) {
		return
	}
	r.unknown(c)
}

// inner walks the operand of a selection that does not start with a name.
func (r *resolver) inner(e ast.Expr) {
	if e.Kind() == ast.SelectKind {
		r.walk(e.AsSelect().Operand())
		return
	}
	r.all(e.AsCall().Args())
}

// parameter resolves a variable of the host, else the longest prefix of c that is a known name.
func (r *resolver) parameter(c chain) bool {
	parts := append([]string{c.root}, c.path...)
	if _, ok := r.scope.Vars[c.root]; ok {
		r.replace(c.nodes[0], r.fac.NewIdent(c.nodes[0].ID(), varPrefix+c.root))
		return true
	}
	if c.root == "params" && r.known["params"] == "" {
		if len(c.path) == 0 {
			r.replace(c.nodes[0], r.fac.NewIdent(c.nodes[0].ID(), paramsName))
			return true
		}
		return r.longest(c, c.path, 1)
	}
	return r.longest(c, parts, 0)
}

func (r *resolver) longest(c chain, parts []string, skip int) bool {
	for n := len(parts); n > 0; n-- {
		full := strings.Join(parts[:n], "/")
		hidden, ok := r.known[full]
		if !ok {
			continue
		}
		node := c.nodes[n-1+skip]
		if why := r.scope.Forbidden[full]; why != "" {
			r.fail(c.nodes[0].ID(), "%s %s", full, why)
			return true
		}
		if isTest(node) {
			r.replace(node, r.presence(node.ID(), full, paramsName))
			return true
		}
		r.replace(node, r.fac.NewIdent(node.ID(), hidden))
		return true
	}
	return false
}

func isTest(e ast.Expr) bool { return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() }

func (r *resolver) replace(old, with ast.Expr) { old.SetKindCase(with) }

// presence builds `"name" in map`, the meaning of has(name).
func (r *resolver) presence(id int64, name, in string) ast.Expr {
	return r.fac.NewCall(id, operators.In,
		r.fac.NewLiteral(r.id(id), types.String(name)), r.fac.NewIdent(r.id(id), in))
}

func (r *resolver) metric(c chain) bool {
	if !r.scope.Metrics || c.root == "params" {
		return false
	}
	parts := append([]string{c.root}, c.path...)
	if c.root == "metrics" {
		parts = c.path
	}
	last := c.nodes[len(c.nodes)-1]
	name := strings.Join(parts, "/")
	switch {
	case len(parts) == 0:
		r.replace(last, r.fac.NewIdent(last.ID(), metricsName))
	case isTest(last):
		r.replace(last, r.presence(last.ID(), name, metricsName))
	default:
		r.replace(last, r.fac.NewCall(last.ID(), operators.Index,
			r.fac.NewIdent(r.id(last.ID()), metricsName), r.fac.NewLiteral(r.id(last.ID()), types.String(name))))
	}
	return true
}

func (r *resolver) unknown(c chain) {
	name := strings.Join(append([]string{c.root}, c.path...), "/")
	names := r.scope.names()
	hint := nearest.Hint(strings.TrimPrefix(name, "params/"), names)
	for _, known := range names {
		if strings.HasPrefix(known, name+"/") {
			hint = fmt.Sprintf("; %s is a group, write %s", dotted(name), dotted(known))
			break
		}
	}
	if hint == "" && len(names) > 0 && len(names) <= fewNames {
		slices.Sort(names)
		hint = "; known here: " + strings.Join(names, ", ")
	}
	what := "parameter "
	if len(r.scope.Params) == 0 && len(r.scope.Vars) > 0 {
		what = "name "
	}
	r.fail(c.nodes[0].ID(), "no %s%s%s", what, Quote(dotted(name)), strings.ReplaceAll(hint, "/", "."))
}

// fewNames is how many names are listed when none is near.
const fewNames = 12

func dotted(name string) string { return strings.ReplaceAll(name, "/", ".") }

// Quote shows text that a user wrote, shortened if it is long.
func Quote(text string) string {
	return strconv.Quote(brief(text, 60))
}

// brief returns the beginning of a text that has more than so many characters, for messages.
func brief(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
