// Package space describes search spaces: their parameters, the conditions under
// which a parameter exists, and the points in them.
//
// A [Point] has one float64 for each parameter, so that points are cheap to store, send and compare
// in every language: reals and integers are stored as they are, a choice is stored as the index of
// its value, and NaN means that the parameter does not exist in this point.
//
// Searchers draw points ([Space.Sample]), convert between values and the unit cube ([Space.ToUnit],
// [Space.FromUnit]) and enumerate finite spaces ([Walk], [Space.All]). Hosts check points
// ([Space.Check], [Space.Holds]) and convert them to JSON and back ([Space.Decode],
// [Space.Encode]). All functions require a space that [Space.Validate] accepts.
package space

// Kind is the form of a parameter.
type Kind uint8

// The forms.
const (
	// Real is a number in [Low, High].
	Real Kind = iota + 1
	// Int is an integer in [Low, High], both included, within ±2^53.
	Int
	// Normal is a real number around Mean, unbounded.
	Normal
	// Choice is one of Choices, without order.
	Choice
	// Ordinal is one of Choices, in order.
	Ordinal
)

// A Param is one dimension of a space.
type Param struct {
	// Name is the full name; parts of nested names are joined with "/".
	Name string
	Kind Kind
	// Low and High are the bounds of Real and Int, both included.
	Low, High float64
	// Log: the parameter has a logarithmic scale (Real, Int; Low > 0).
	Log bool
	// Step rounds values to its multiples inside the bounds; 0: none (Real, Int, Normal).
	Step float64
	// Open: a trial may have a value outside of the bounds and beside the steps, where somebody else than the space has
	// chosen it (Real, Int). Samples stay inside. Plugins are not told of it: ToUnit takes any number.
	Open bool
	// Mean and SD are those of Normal.
	Mean, SD float64
	// Choices are the values of Choice and Ordinal, as JSON.
	Choices [][]byte
	// Grid: the host combines every value with all other grids and gives it in each request;
	// searchers need not choose it.
	Grid bool
	// When is the condition under which the parameter exists; nil: always. It may refer only to
	// earlier parameters.
	When *Expr
}

// A Space is an ordered list of parameters; parents come before children.
type Space struct {
	Params []Param
	// Constraints must hold for every point.
	Constraints []*Expr
	// Opaque: there are further conditions or constraints that only the host can check; it drops
	// parameters that do not exist and requests replacements for points that it refuses.
	Opaque bool
}

// A Point has one value for each parameter of a space; NaN: the parameter does not exist.
type Point []float64

// Op is an operation of an [Expr].
type Op uint8

// Operations. True is 1, false is 0. A parameter that does not exist, and anything computed from
// it, is NaN ("unknown"). And is 0 if either side is 0, and Or is 1 if either side is 1, whatever
// the other side is. If evaluates its condition and only the selected branch. Every other operation
// on NaN is NaN. A condition holds if it is 1; a constraint holds unless it is 0.
const (
	Const  Op = iota + 1 // Number
	Number               // the value of parameter Param; choices that are numbers have their value
	In                   // 1 if parameter Param (a choice) is one of Set
	Neg                  // -Args[0]
	Add                  // Args[0] + Args[1]
	Sub                  // Args[0] - Args[1]
	Mul                  // Args[0] * Args[1]
	Div                  // Args[0] / Args[1]; NaN for division by zero
	IntDiv               // truncated toward zero, as CEL's int division
	Mod                  // remainder with the sign of Args[0], as CEL's %
	Lt                   // Args[0] < Args[1]
	Le                   // Args[0] <= Args[1]
	Gt                   // Args[0] > Args[1]
	Ge                   // Args[0] >= Args[1]
	Eq                   // Args[0] == Args[1]
	Ne                   // Args[0] != Args[1]
	And                  // all of Args
	Or                   // any of Args
	Not                  // 1 - Args[0]
	If                   // Args[0] ? Args[1] : Args[2]
)

// An Expr is a small expression over the parameters of a space. A plugin in any language can
// evaluate it with little code.
type Expr struct {
	Op     Op
	Param  int     // index into Space.Params (Number, In)
	Number float64 // Const
	Set    []int   // indices into Choices (In)
	Args   []*Expr
}
