// Package moasha is asynchronous successive halving for several objectives: at each
// rung those trials go on that fewest others dominate. Use it where asha would be
// used and no single objective decides, such as error and latency; with nsga2 as
// the searcher.
//
// Source: Schmucker, Donini, Zafar, Salinas, Archambeau, "Multi-objective
// Asynchronous Successive Halving", 2021, https://arxiv.org/abs/2106.12639, with its
// order by an ε-net; layers are those of Deb, Pratap, Agarwal, Meyarivan, "A Fast and
// Elitist Multiobjective Genetic Algorithm: NSGA-II", 2002.
//
// # Rules
//
// Rungs, and when a trial is recorded at one, are asha's. Of n recorded at a rung,
// this one included, the best ⌊n/factor⌋ and at least one go on.
//
// Those recorded are peeled into layers: the first are those that none dominates
// (is better in one objective and worse in none), the next those that none but the
// first dominate, and so on. Better layers come first. Of the layer that does not fit
// whole, those come first that lie apart, in the order of an ε-net: the best by the first
// objective, and then always the one that is farthest from all before it, measured in
// shares of the layer's ranges. Equals share one place and go on together. So with one
// objective it decides as asha does.
//
// A trial with a loss that is not finite is recorded as worst in all, and always
// stopped at the rung. Trials that ended keep their places. Decisions are final: a
// trial that was let on may be dominated later, and is judged at its next rung.
//
// # Limits
//
// No structure is known that keeps layers in O(log n) for any number of objectives.
// With two, layers are lines: a result finds its layer in O(log² n), moves those that it
// displaces, and only where its layer does not fit whole is the net made anew, in
// O(k log k) for k in that layer. With more, a result costs up to O(n) comparisons for
// n at the rung, and O(k²) for that layer. There are no brackets and no promotion: which
// trials are among the best changes in too many places at once.
package moasha
