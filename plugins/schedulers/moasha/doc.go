// Package moasha is asynchronous successive halving for several objectives: at each
// rung those trials go on that fewest others dominate. Use it where asha would be
// used and no single objective decides, such as error and latency; with nsga2 as
// the searcher.
//
// Source: Schmucker, Donini, Zafar, Salinas, Archambeau, "Multi-objective
// Asynchronous Successive Halving", 2021, https://arxiv.org/abs/2106.12639; layers
// and crowding are those of Deb, Pratap, Agarwal, Meyarivan, "A Fast and Elitist
// Multiobjective Genetic Algorithm: NSGA-II", 2002.
//
// # Options
//
//   - max (100): iterations after which a trial is stopped as finished.
//   - grace (1): the first rung; no trial is stopped before it.
//   - reduction_factor (3): one in so many trials trains on.
//   - objectives (all): the metrics that are compared.
//
// # Rules
//
// Rungs, and when a trial is recorded at one, are asha's. Of n recorded at a rung,
// this one included, the best ⌊n/factor⌋ and at least one go on.
//
// Those recorded are peeled into layers: the first are those that none dominates
// (is better in one objective and worse in none), the next those that none but the
// first dominate, and so on. Better layers come first. Of the layer that does not
// fit whole, those come first that have most room around them: the distance between
// the neighbours on both sides, as a share of the layer's range, summed over the
// objectives; the ends have infinite room. Equals share one place and go on
// together. So with one objective it decides as asha does.
//
// A trial with a loss that is not finite is recorded as worst in all, and always
// stopped at the rung. Trials that ended keep their places. Decisions are final: a
// trial that was let on may be dominated later, and is judged at its next rung.
//
// # Limits
//
// The paper also ranks a layer by an ε-net, which costs a pass over the layer for
// each place; crowding costs one sort. Layers are kept up to date as trials are
// recorded: a result costs up to O(n) comparisons for n at the rung, and a sort of
// one layer where that does not fit whole. There are no brackets and no promotion:
// which trials are among the best changes in too many places at once.
package moasha
