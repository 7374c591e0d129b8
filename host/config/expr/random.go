package expr

import (
	"math"
	"math/rand/v2"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// rngName is the hidden variable with the random stream of one evaluation; the resolver passes it as
// the first argument to each random function.
const rngName = "@rng"

var rngType = cel.OpaqueType("rng")

// rngVal is a stream of random numbers as a CEL value.
type rngVal struct {
	ref.Val // an error, in case the value is used as such
	src     *rand.PCG
}

func (rngVal) Type() ref.Type { return rngType }

func newRNG(seed uint64) rngVal {
	return rngVal{types.NewErr("no value"), rand.NewPCG(seed, 0x9e3779b97f4a7c15)}
}

// float returns a number that is uniform in [0, 1).
func (r rngVal) float() float64 { return float64(r.src.Uint64()>>11) / (1 << 53) }

var randomArity = map[string]int{"uniform": 2, "loguniform": 2, "normal": 2, "randint": 2, "choice": 1}

func randomFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Variable(rngName, rngType),
		randomPair("uniform", uniform),
		randomPair("loguniform", loguniform),
		randomPair("normal", normal),
		cel.Function("randint", cel.Overload("randint_int", []*cel.Type{rngType, cel.IntType, cel.IntType},
			cel.IntType),
			cel.SingletonFunctionBinding(randint)),
		cel.Function("choice", cel.Overload("choice_list", []*cel.Type{rngType, cel.ListType(cel.DynType)},
			cel.DynType),
			cel.SingletonFunctionBinding(choice)),
	}
}

func randomPair(name string, f func(r rngVal, a, b float64) ref.Val) cel.EnvOption {
	binding := func(args ...ref.Val) ref.Val {
		r, ok := args[0].(rngVal)
		a, okA := real(args[1]).(types.Double)
		b, okB := real(args[2]).(types.Double)
		if !ok || !okA || !okB {
			return types.NewErr("%s needs two numbers", name)
		}
		return known(f(r, float64(a), float64(b)))
	}
	return cel.Function(name, cel.Overload(name+"_any", []*cel.Type{rngType, cel.DynType, cel.DynType}, cel.DoubleType),
		cel.SingletonFunctionBinding(binding))
}

func uniform(r rngVal, a, b float64) ref.Val {
	if a > b {
		return types.NewErr("uniform(%v, %v): the first bound is above the second", a, b)
	}
	return types.Double(a + (b-a)*r.float())
}

func loguniform(r rngVal, a, b float64) ref.Val {
	if a <= 0 || a > b {
		return types.NewErr("loguniform(%v, %v): bounds must be positive and in order", a, b)
	}
	x := math.Exp(math.Log(a) + (math.Log(b)-math.Log(a))*r.float())
	return types.Double(min(max(x, a), b))
}

// normal uses the Box-Muller transform, with two random numbers per draw.
func normal(r rngVal, mean, sd float64) ref.Val {
	if sd < 0 {
		return types.NewErr("normal(%v, %v): the deviation is negative", mean, sd)
	}
	radius := math.Sqrt(-2 * math.Log(1-r.float()))
	return types.Double(mean + sd*radius*math.Cos(2*math.Pi*r.float()))
}

func randint(args ...ref.Val) ref.Val {
	r, ok := args[0].(rngVal)
	a, okA := args[1].(types.Int)
	b, okB := args[2].(types.Int)
	if !ok || !okA || !okB || a > b {
		return types.NewErr("randint needs two integers in order")
	}
	width := uint64(b) - uint64(a) + 1
	if width == 0 { // all 2^64 values
		return types.Int(r.src.Uint64())
	}
	return types.Int(uint64(a) + below(r, width))
}

// below returns a number that is uniform in [0, n), without bias.
func below(r rngVal, n uint64) uint64 {
	for limit := math.MaxUint64 - math.MaxUint64%n; ; {
		if x := r.src.Uint64(); x < limit {
			return x % n
		}
	}
}

func choice(args ...ref.Val) ref.Val {
	r, ok := args[0].(rngVal)
	list, okList := args[1].(traits.Lister)
	if !ok || !okList {
		return types.NewErr("choice needs a list")
	}
	size, _ := list.Size().(types.Int)
	if size == 0 {
		return types.NewErr("choice of an empty list")
	}
	return list.Get(types.Int(below(r, uint64(size))))
}
