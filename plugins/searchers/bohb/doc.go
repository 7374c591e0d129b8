// Package bohb suggests points by the model of BOHB, for schedulers that compare trials
// at budgets: its partners are the schedulers bohb and hyperband.
//
// The method is that of S. Falkner and others, BOHB: Robust and Efficient
// Hyperparameter Optimization at Scale (2018). Results are kept by the iteration at which a trial was paused or
// ended, its budget. Of the trials of a budget, the best 15 % and the others have a density
// each, estimated by kernels in all parameters at once. A third of the suggestions
// is drawn at random; the others are the one of 64 draws around good trials for which the ratio of the densities is
// best. The model is that of the largest budget that has seen enough trials: a few
// more than there are parameters.
//
// What is different from the authors' program: bandwidths are in unit coordinates, so that
// logarithms and quantiles count; a parameter that exists under a condition is compared by whether it exists
// first; a choice is moved with the probability of its bandwidth to another one; and no point of a finite
// space comes twice.
//
// Without budgets, where every trial trains to its end, tpe is better.
package bohb
