// Package bohb suggests points with the model of BOHB, for schedulers that compare trials at
// budgets: use it with the schedulers bohb and hyperband.
//
// The method is that of S. Falkner and others, BOHB: Robust and Efficient Hyperparameter
// Optimization at Scale (2018). Results are grouped by budget, the iteration at which a trial was
// paused or ended. Of the trials of a budget, the best 15 % and the others each have a density,
// estimated by kernels in all parameters at once. A third of the suggestions is drawn at random.
// Each of the others is the best of 64 draws around good trials, by the ratio of the densities. The
// model is that of the largest budget with enough trials: a few more than there are parameters, of which so
// many have a finite loss that the good ones are among them.
//
// Differences from the authors' program: bandwidths are in unit coordinates, so that logarithms and
// quantiles are respected; a conditional parameter is first compared by whether it exists; a choice
// changes with the probability of its bandwidth; and no point of a finite space occurs twice.
//
// Without budgets, if every trial trains to its end, tpe is better.
package bohb
