// Package expr compiles the expressions of an experiment file: conditions and constraints over
// parameters, stop and budget rules over metrics, and computed ("sample") values.
//
// The language is CEL (https://cel.dev) with three differences that users of a tuner expect. Integers
// and reals mix freely (`lr * 10`, `layers in [2.0, 3]`). Nested names are written with dots
// (`model.lr`, `val.acc` for the metric val/acc) or by index (`params["weight-decay"]`,
// `metrics["val/acc"]`). A missing value makes the expression unknown, and an unknown condition does
// not hold.
//
// [Lower] turns a condition into the small tree that plugins in any language evaluate. An expression
// that cannot be lowered ([ErrOpaque]) is compiled by [Compile] and evaluated only by the host.
// Evaluation is bounded: the length and depth of the source, and the steps of each evaluation.
//
// host/config uses both; the core and plugins never see this package.
package expr
