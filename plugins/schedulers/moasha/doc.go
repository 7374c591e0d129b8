// Package moasha is asynchronous successive halving for several objectives: at each rung the trials
// that the fewest others dominate continue. Use it instead of asha if no single objective decides,
// such as error and latency, with nsga2 as the searcher.
//
// Source: Schmucker, Donini, Zafar, Salinas, Archambeau, "Multi-objective
// Asynchronous Successive Halving", 2021, https://arxiv.org/abs/2106.12639, with its
// order by an ε-net; layers are those of Deb, Pratap, Agarwal, Meyarivan, "A Fast and
// Elitist Multiobjective Genetic Algorithm: NSGA-II", 2002.
//
// # Rules
//
// The rungs and the recording of trials are those of asha. Of n trials recorded at a rung,
// including this one, the best ⌊n/factor⌋, at least one, continue.
//
// Recorded trials are peeled into layers: the first has the trials that none dominates (is better
// in one objective and worse in none), the next those that only the first dominate, and so on.
// Better layers come first. Within the layer that does not fit completely, trials that are far
// apart come first, in the order of an ε-net: first the best by the first objective, then always
// the one farthest from all earlier ones, measured in shares of the layer's ranges. Equal trials
// share one place and continue together. With one objective it decides like asha.
//
// A trial with a loss that is not finite is recorded as worst in all objectives, and always stopped
// at the rung. Trials that ended keep their places. Decisions are final: a trial that continued may
// be dominated later, and is judged at its next rung.
//
// # Limits
//
// No structure is known that maintains layers in O(log n) for any number of objectives. With two,
// layers are lines: a result finds its layer in O(log² n), moves the ones that it displaces, and
// only if its layer does not fit completely is the net rebuilt, in O(k log k) for k in that layer.
// With more objectives, a result costs up to O(n) comparisons for n at the rung, and O(k²) for that
// layer. There are no brackets and no promotion, because the set of the best trials changes in too
// many places at once.
package moasha
