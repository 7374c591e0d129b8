package expr

import (
	"math"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// standard lists the parts used of CEL's own library. Arithmetic, equality and `in` are replaced by
// versions that mix integers and reals; time, bytes and types are left out.
var standard = []string{
	operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.NotStrictlyFalse, operators.Conditional,
	operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.Index,
	"size", "contains", "startsWith", "endsWith", "matches", "int", "double", "string", "bool", "dyn",
}

// baseEnv returns the environment without variables; random adds the functions of computed values.
func baseEnv(random bool) (*cel.Env, error) {
	if random {
		return randomEnv()
	}
	return plainEnv()
}

var plainEnv = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewCustomEnv(append(arithmetic(), mathematics()...)...)
})

var randomEnv = sync.OnceValues(func() (*cel.Env, error) {
	e, err := plainEnv()
	if err != nil {
		return nil, err
	}
	return e.Extend(randomFunctions()...)
})

func arithmetic() []cel.EnvOption {
	subset := &env.LibrarySubset{}
	for _, name := range standard {
		subset.IncludeFunctions = append(subset.IncludeFunctions, &env.Function{Name: name})
	}
	options := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(subset)),
		cel.CrossTypeNumericComparisons(true),
		cel.EagerlyValidateDeclarations(true),
		cel.ParserRecursionLimit(maxDepth),
		cel.ParserExpressionSizeLimit(maxSourceRunes),
		cel.ParserErrorRecoveryLimit(3),
		anyPair(operators.Equals, func(a, b ref.Val) ref.Val { return types.Equal(a, b) }),
		anyPair(operators.NotEquals, func(a, b ref.Val) ref.Val { return types.Bool(types.Equal(a, b) != types.True) }),
		anyPair(operators.In, contains),
		cel.Function(operators.Negate,
			cel.Overload("negate_int", []*cel.Type{cel.IntType}, cel.IntType),
			cel.Overload("negate_double", []*cel.Type{cel.DoubleType}, cel.DoubleType),
			cel.SingletonUnaryBinding(func(v ref.Val) ref.Val { return v.(traits.Negater).Negate() },
				traits.NegatorType)),
	}
	return append(options,
		numeric(operators.Add, add, cel.Overload("add_string", []*cel.Type{cel.StringType, cel.StringType},
			cel.StringType),
			cel.Overload("add_list", []*cel.Type{cel.ListType(cel.DynType), cel.ListType(cel.DynType)},
				cel.ListType(cel.DynType))),
		numeric(operators.Subtract, func(a, b ref.Val) ref.Val { return a.(traits.Subtractor).Subtract(b) }),
		numeric(operators.Multiply, func(a, b ref.Val) ref.Val { return a.(traits.Multiplier).Multiply(b) }),
		numeric(operators.Divide, divide),
		cel.Function(operators.Modulo,
			cel.Overload("modulo_int", []*cel.Type{cel.IntType, cel.IntType}, cel.IntType),
			cel.SingletonBinaryBinding(func(a, b ref.Val) ref.Val { return a.(traits.Modder).Modulo(b) },
				traits.ModderType)))
}

func anyPair(name string, f func(a, b ref.Val) ref.Val) cel.EnvOption {
	return cel.Function(name, cel.Overload(name+"_any", []*cel.Type{cel.DynType, cel.DynType}, cel.BoolType),
		cel.SingletonBinaryBinding(f))
}

func contains(value, in ref.Val) ref.Val {
	if c, ok := in.(traits.Container); ok {
		return c.Contains(value)
	}
	return types.NewErr("'in' needs a list on its right")
}

// numeric declares an operator on every pair of integers and reals.
func numeric(name string, f func(a, b ref.Val) ref.Val, more ...cel.FunctionOpt) cel.EnvOption {
	i, d := cel.IntType, cel.DoubleType
	opts := append([]cel.FunctionOpt{
		cel.Overload(name+"_int_int", []*cel.Type{i, i}, i),
		cel.Overload(name+"_double_double", []*cel.Type{d, d}, d),
		cel.Overload(name+"_int_double", []*cel.Type{i, d}, d),
		cel.Overload(name+"_double_int", []*cel.Type{d, i}, d),
	}, more...)
	return cel.Function(name, append(opts, cel.SingletonBinaryBinding(mixed(f)))...)
}

// mixed converts both sides to reals when one is real. As in the lowered tree, a result that is not a
// number is an error.
func mixed(f func(a, b ref.Val) ref.Val) func(a, b ref.Val) ref.Val {
	return func(a, b ref.Val) ref.Val {
		if a.Type() != b.Type() {
			a, b = real(a), real(b)
		}
		if a.Type() != b.Type() {
			return types.NewErr(noOverload+": operator for %s and %s", a.Type().TypeName(), b.Type().TypeName())
		}
		return known(f(a, b))
	}
}

func known(v ref.Val) ref.Val {
	if d, ok := v.(types.Double); ok && math.IsNaN(float64(d)) {
		return types.NewErr("not a number")
	}
	return v
}

func real(v ref.Val) ref.Val {
	if i, ok := v.(types.Int); ok {
		return types.Double(i)
	}
	return v
}

func add(a, b ref.Val) ref.Val { return a.(traits.Adder).Add(b) }

func divide(a, b ref.Val) ref.Val {
	if d, ok := b.(types.Double); ok && d == 0 {
		return types.NewErr("division by zero")
	}
	return a.(traits.Divider).Divide(b)
}

// mathematics returns functions over reals that CEL lacks.
func mathematics() []cel.EnvOption {
	one := map[string]func(float64) float64{
		"abs": math.Abs, "sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log, "log2": math.Log2, "log10": math.Log10,
		"floor": math.Floor, "ceil": math.Ceil, "round": math.Round,
	}
	two := map[string]func(a, b float64) float64{"min": math.Min, "max": math.Max, "pow": math.Pow}
	var options []cel.EnvOption
	for name, f := range one {
		options = append(options, cel.Function(name,
			cel.Overload(name+"_any", []*cel.Type{cel.DynType}, cel.DoubleType),
			cel.SingletonUnaryBinding(func(v ref.Val) ref.Val {
				return reals(name,
					func(x []float64) float64 { return f(x[0]) }, v)
			})))
	}
	for name, f := range two {
		options = append(options, cel.Function(name,
			cel.Overload(name+"_any", []*cel.Type{cel.DynType, cel.DynType}, cel.DoubleType),
			cel.SingletonBinaryBinding(func(a, b ref.Val) ref.Val {
				return reals(name, func(x []float64) float64 { return f(x[0], x[1]) }, a, b)
			})))
	}
	return options
}

func reals(name string, f func([]float64) float64, args ...ref.Val) ref.Val {
	xs := make([]float64, len(args))
	for i, a := range args {
		x, ok := real(a).(types.Double)
		if !ok {
			return types.NewErr("%s needs numbers", name)
		}
		xs[i] = float64(x)
	}
	return known(types.Double(f(xs)))
}
