package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Values holds the known values of one evaluation. A name that is in no map is unknown.
type Values struct {
	// Params holds the values of the parameters that exist, computed ones included, by full name.
	Params map[string]any
	// Metrics holds the metrics of a result, flattened with "/".
	Metrics map[string]float64
	// Vars holds the host's variables.
	Vars map[string]any
	// Seed seeds the random functions of a computed value.
	Seed uint64
}

// Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	source  string
	scope   *Scope
	prg     cel.Program
	uses    []string
	vars    []string
	metrics []string
	random  bool
}

// Compile checks src and compiles it for evaluation by the host. want is the type that the result must
// have, or Any.
func Compile(src string, s *Scope, want Type) (*Program, error) {
	c, err := compile(src, s, want)
	if err != nil {
		return nil, err
	}
	return c.program(c.checked.NativeRep().Expr())
}

// Source returns the text that was compiled.
func (p *Program) Source() string { return p.source }

// Uses lists the parameters, constants and computed values that the expression
// names.
func (p *Program) Uses() []string { return p.uses }

// Vars lists the host's variables that the expression names.
func (p *Program) Vars() []string { return p.vars }

// Metrics lists the metrics that the expression names.
func (p *Program) Metrics() []string { return p.metrics }

// Random reports whether the expression draws random numbers.
func (p *Program) Random() bool { return p.random }

// Eval returns the value: int64, float64, bool, string, nil, []any or map[string]any. The error is
// [ErrUnknownValue] where a value is missing.
func (p *Program) Eval(v Values) (any, error) {
	out, _, err := p.prg.Eval(&activation{p.scope, &v, newRNG(v.Seed)})
	if err != nil {
		return nil, p.evalError(err)
	}
	value, err := toGo(out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.line(), err)
	}
	return value, nil
}

// Bool evaluates a condition. An unknown value makes it false, with an error that names the value
// ([ErrUnknownValue]).
func (p *Program) Bool(v Values) (bool, error) {
	value, err := p.Eval(v)
	if err != nil {
		return false, err
	}
	b, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("%s: found %v, expected true or false", p.line(), value)
	}
	return b, nil
}

var (
	unknownMessages   = []string{"no such attribute", "no such key", "undeclared"}
	undefinedMessages = []string{"division by zero", "divide by zero", "modulus by zero", "not a number"}
)

// IsUndefined reports whether an evaluation failed at a value that exists: it cannot be calculated, or has another type
// than the operation.
func IsUndefined(err error) bool {
	return err != nil && (errors.Is(err, ErrUndefined) ||
		!errors.Is(err, ErrUnknownValue) && !errors.Is(err, ErrUnevaluable))
}

func (p *Program) evalError(err error) error {
	msg := readable(err.Error())
	within := func(m string) bool { return strings.Contains(msg, m) }
	switch {
	case slices.ContainsFunc(undefinedMessages, within):
		return fmt.Errorf("%s: %w (%s)", p.line(), ErrUndefined, msg)
	case slices.ContainsFunc(unknownMessages, within):
		return fmt.Errorf("%s: %w (%s)", p.line(), ErrUnknownValue, msg)
	}
	if rest, of := strings.CutPrefix(msg, noOverload); of { // of this type of value: a comparison with it is not true
		operator := operatorNames.Replace(strings.TrimPrefix(rest, ": "))
		return fmt.Errorf("%s: values of these types have no %s", p.line(), operator)
	}
	if strings.Contains(msg, "cost limit") {
		return fmt.Errorf("%s: %w", p.line(), ErrTooLong)
	}
	return fmt.Errorf("%s: %w: %s", p.line(), ErrUnevaluable, msg)
}

// line returns the source as one line, for messages.
func (p *Program) line() string { return line(p.source) }

func line(source string) string {
	return brief(strings.Join(strings.Fields(source), " "), maxSaidRunes)
}

// compiled is an expression with its names resolved and its types checked.
type compiled struct {
	source  string
	scope   *Scope
	env     *cel.Env
	checked *cel.Ast
}

func compile(src string, s *Scope, want Type) (*compiled, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	base, err := baseEnv(s.Random)
	if err != nil {
		return nil, err
	}
	parsed, iss := base.Parse(src)
	if iss.Err() != nil {
		return nil, issue(iss, src)
	}
	r := newResolver(s, parsed.NativeRep())
	r.walk(parsed.NativeRep().Expr())
	if len(r.errs) > 0 {
		return nil, r.errs[0]
	}
	env, err := base.Extend(variables(s, parsed.NativeRep())...)
	if err != nil {
		return nil, err
	}
	checked, iss := env.Check(parsed)
	if iss.Err() != nil {
		return nil, issue(iss, src)
	}
	c := &compiled{src, s, env, checked}
	return c, errors.Join(c.checkEqualities(), c.checkResult(want))
}

func checkSource(src string) error {
	switch n := utf8.RuneCountInString(src); {
	case strings.TrimSpace(src) == "":
		return &Error{1, "found an empty expression"}
	case !utf8.ValidString(src):
		return &Error{1, "the expression is not valid UTF-8"}
	case n > maxSourceRunes:
		return &Error{1, fmt.Sprintf("the expression has %d characters, the limit is %d", n, maxSourceRunes)}
	}
	return nil
}

// variables declares the hidden variables that e uses.
func variables(s *Scope, e *ast.AST) []cel.EnvOption {
	var options []cel.EnvOption
	for _, name := range hiddenNames(e.Expr()) {
		options = append(options, cel.Variable(name, s.hiddenType(name)))
	}
	return options
}

func (s *Scope) hiddenType(hidden string) *cel.Type {
	kind, name, _ := strings.Cut(hidden, ":")
	switch kind + ":" {
	case paramPrefix:
		i := slices.IndexFunc(s.Params, func(p space.Param) bool { return p.Name == name })
		return paramType(&s.Params[i]).cel()
	case constPrefix:
		return typeOf(s.Constants[name]).cel()
	case varPrefix:
		return s.Vars[name].cel()
	}
	switch hidden {
	case metricsName:
		return cel.MapType(cel.StringType, cel.DoubleType)
	case paramsName:
		return cel.MapType(cel.StringType, cel.DynType)
	}
	return cel.DynType
}

// hiddenNames lists the hidden variables in e, each once, in order, except the random stream: the
// environment declares that.
func hiddenNames(e ast.Expr) []string {
	var names []string
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind && isHidden(e.AsIdent()) && !slices.Contains(names, e.AsIdent()) {
			names = append(names, e.AsIdent())
		}
	}))
	return names
}

func isHidden(name string) bool {
	return name == paramsName || name == metricsName || strings.HasPrefix(name, "@") && strings.Contains(name, ":")
}

func (c *compiled) program(e ast.Expr) (*Program, error) {
	rep := c.checked.NativeRep()
	sub := ast.NewCheckedAST(ast.NewAST(e, rep.SourceInfo()), rep.TypeMap(), rep.ReferenceMap())
	prg, err := c.env.PlanProgram(sub, cel.CostLimit(maxEvalCost))
	if err != nil {
		return nil, &Error{1, readable(err.Error())}
	}
	p := &Program{source: c.source, scope: c.scope, prg: prg, metrics: metricNames(e), random: draws(e)}
	for _, h := range hiddenNames(e) {
		switch _, name, ok := strings.Cut(h, ":"); {
		case strings.HasPrefix(h, varPrefix):
			p.vars = append(p.vars, name)
		case ok:
			p.uses = append(p.uses, name)
		}
	}
	return p, nil
}

// draws reports whether e calls a random function.
func draws(e ast.Expr) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.IdentKind && e.AsIdent() == rngName
	}))
	return found
}

func metricNames(e ast.Expr) []string {
	var names []string
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Index {
			return
		}
		args := e.AsCall().Args()
		if args[0].Kind() == ast.IdentKind && args[0].AsIdent() == metricsName && textLiteral(args[1]) != nil {
			names = append(names, *textLiteral(args[1]))
		}
	}))
	slices.Sort(names)
	return slices.Compact(names)
}

// column returns where e starts in the source.
func (c *compiled) column(e ast.Expr) int {
	return c.checked.NativeRep().SourceInfo().GetStartLocation(e.ID()).Column() + 1
}

func (c *compiled) checkResult(want Type) error {
	got := c.checked.OutputType()
	if want == Any || got.IsExactType(cel.DynType) || got.IsExactType(want.cel()) || want == Float &&
		got.IsExactType(cel.IntType) {
		return nil
	}
	return &Error{1, fmt.Sprintf("the expression gives %s, expected %s", plainType(got), plainType(want.cel()))}
}

// checkEqualities refuses comparisons that can never be true; CEL allows them once integers and reals
// mix.
func (c *compiled) checkEqualities() error {
	var found error
	rep := c.checked.NativeRep()
	ast.PreOrderVisit(rep.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || found != nil {
			return
		}
		call := e.AsCall()
		if f := call.FunctionName(); f != operators.Equals && f != operators.NotEquals {
			return
		}
		a, b := plainType(rep.GetType(call.Args()[0].ID())), plainType(rep.GetType(call.Args()[1].ID()))
		if a != b && a != "a value" && b != "a value" {
			found = &Error{c.column(call.Args()[0]), fmt.Sprintf("compares %s with %s, which are never equal", a, b)}
		}
	}))
	return found
}

func plainType(t *cel.Type) string {
	switch t.Kind() {
	case types.IntKind, types.DoubleKind:
		return "a number"
	case types.StringKind:
		return "a text"
	case types.BoolKind:
		return "true or false"
	case types.ListKind:
		return "a list"
	case types.MapKind:
		return "a map"
	}
	return "a value"
}

var (
	hiddenPattern  = lazily.Regexp(`@(?:param|const|computed|var):([^'"\s,)]+)`)
	noOverload     = "no such overload"
	overloadPrefix = "found no matching overload for "
	overloadFor    = lazily.Regexp(`found no matching overload for '(.*)' applied to '(.*?)'$`)
	operatorNames  = strings.NewReplacer("_", "", "@", "")
	pythonWords    = map[string]string{"and": "&&", "or": "||", "not": "!", "AND": "&&", "OR": "||", "True": "true",
		"False": "false"}
	word        = lazily.Regexp(`[A-Za-z]+|[^=!<>]=[^=]`)
	syntaxWords = strings.NewReplacer("'<EOF>'", "end of the expression", "<EOF>", "end of the expression",
		"mismatched input", "unexpected", "extraneous input", "unexpected", "token recognition error at: ",
		"unexpected ", "no viable alternative at input", "unexpected",
		"invalid double literal", "the number is too large: the largest is 1.797e308",
		"invalid int literal", "the whole number is too large: write it as a real one, with .0 at its end")
	typeWords = strings.NewReplacer("string", "text", "double", "real", "dyn", "value")
)

// readable turns the evaluator's message into one for users. It may repeat a part of the expression.
func readable(msg string) string { return brief(plain(msg), maxSaidRunes) }

func plain(msg string) string {
	msg = strings.ReplaceAll(hiddenPattern().ReplaceAllString(msg, "$1"), "\n", " ")
	if m := overloadFor().FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("%s does not take %s", operatorNames.Replace(m[1]), typeWords.Replace(m[2]))
	}
	msg = syntaxWords.Replace(strings.TrimPrefix(msg, "Syntax error: "))
	if i := strings.Index(msg, " expecting "); i > 0 {
		msg = msg[:i]
	}
	return strings.TrimPrefix(msg, overloadPrefix)
}

func issue(iss *cel.Issues, src string) error {
	all := iss.Errors()
	slices.SortStableFunc(all, func(a, b *common.Error) int { return a.Location.Column() - b.Location.Column() })
	first := all[0]
	if strings.Contains(first.Message, "recursion limit exceeded") {
		return &Error{deepColumn(src), fmt.Sprintf("the expression is nested more than %d deep from here on; write it "+
			"in several parts, or without brackets that it does not need", maxDepth)}
	}
	return &Error{max(first.Location.Column(), 0) + 1, readable(first.Message) + operatorHint(src)}
}

// deepColumn returns where brackets are nested deeper than the limit; else, where operators are, 1.
func deepColumn(src string) int {
	depth, column := 0, 0
	for _, r := range src {
		column++
		switch r {
		case '(', '[', '{':
			if depth++; depth > maxDepth {
				return column
			}
		case ')', ']', '}':
			depth--
		}
	}
	return 1
}

// operatorHint suggests a replacement for an operator of another language.
func operatorHint(src string) string {
	for _, w := range word().FindAllString(src, -1) {
		if cel := pythonWords[w]; cel != "" {
			return fmt.Sprintf("; write %s, not %s", cel, w)
		}
		if len(w) == 3 && w[1] == '=' {
			return "; write ==, not ="
		}
	}
	return ""
}

var functionLists = sync.OnceValue(func() map[bool][]string {
	lists := map[bool][]string{}
	for _, random := range []bool{false, true} {
		env, err := baseEnv(random)
		if err != nil {
			continue
		}
		for name := range env.Functions() {
			lists[random] = append(lists[random], name)
		}
	}
	return lists
})

func functionNames(random bool) []string { return functionLists()[random] }
