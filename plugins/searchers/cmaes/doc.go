// Package cmaes suggests points from a normal distribution that adapts its mean and covariance to
// the best results: the evolution strategy with covariance matrix adaptation (N. Hansen, The CMA
// Evolution Strategy: A Tutorial, 2016). Use it for mostly numeric spaces, one objective, and
// hundreds of trials or more. It learns scales and correlations, does not depend on the scale of
// losses, and costs microseconds.
//
// # Method
//
// Until startup trials have finished with a finite result, points are those of a Sobol sequence.
// The first mean is the weighted mean of the best third of these trials. So it starts from trials
// that are known at the beginning, such as the user's points or those of another searcher: set
// startup to their number.
//
// A generation ends as soon as enough trials have ended, whichever they are: trials of earlier
// generations and points from other sources count as well. Points that are farther away than the
// distribution allows are moved nearer (N. Hansen, Injecting External Solutions Into CMA-ES, 2011).
// So no result is wasted for any number of parallel trials, and nothing waits. Failed trials are
// the worst of a generation; half of a generation must have finite results. A failed trial that runs
// again counts by its result: it takes the place of the failure, or is one more trial if the failure's
// generation has ended. Trials removed without a result are ignored. A paused trial counts once, with
// its current result.
//
// The better half of a generation moves the mean, the worse half changes the covariance with
// negative weights, and equal losses share their weights. The covariance is stored as its Cholesky
// root instead of eigenvectors (O. Krause and others, CMA-ES with Optimal Covariance Update and
// Storage Complexity, 2016).
//
//   - Integers, ordinals and steps are drawn as numbers and rounded, with a margin that keeps
//     them variable (R. Hamano and others, CMA-ES with Margin, 2022). Only rounded values are
//     recorded; for the update the position within the cell is drawn again, given the trial's
//     other values (by Gibbs sampling).
//   - Parameters that do not exist in a trial are filled in the same way, so that they change
//     nothing on average.
//   - A choice has a probability for each category. It moves towards the categories of the
//     better half and never vanishes, as in CatCMA (R. Hamano and others, 2024), but at a fixed
//     rate and independently of everything else.
//   - Bounds: a point outside is drawn again, up to ten times, and then moved to the bound.
//   - Constraints: points are drawn again, up to twenty times, then repeatedly moved half way
//     towards the best trial, and finally drawn at random.
//   - In a finite space of at most 65,536 points none is suggested twice: if the distribution
//     gives only old ones it is widened.
//   - adapt: learning rates follow the signal-to-noise ratio (LRA-CMA-ES, M. Nomura and others,
//     2023), for noise, many local minima and at least a thousand trials.
//   - restarts: if losses stay the same, the distribution has shrunk to a point, or there was no
//     improvement for very long, the search restarts elsewhere with twice the population (IPOP,
//     A. Auger and N. Hansen, 2005).
//
// # Cost
//
// A suggestion and its result take 8 µs of CPU with 10 parameters, 23 µs with 40 and
// 1.8 ms with 500 (BenchmarkSuggest).
//
// # Defaults
//
// Normalised regret (0 the best known, 1 the median of random search after 100 or 200 trials, at
// most 2), mean over 39 functions, trees and tables of trained models, four or five runs of each;
// differences of less than 0.03 are noise. The first rows start at the best trial, with a rate of
// 0.25 for categories:
//
//	startup 8, sigma 0.2                                0.45
//	  startup 4, 16                                0.42, 0.43
//	  sigma 0.15, 0.3                              0.44, 0.56
//	  population 6                                      0.42
//	  adapt                                             0.59
//	startup 10, sigma 0.17                              0.45
//	  categories at a rate of 0.15, 0.4            0.48, 0.43
//	  1, 50 draws where bounds are left            0.46, 0.45
//	  at the best three                                 0.41
//	  and with their categories                         0.41
//	startup 16, at the best third, their categories     0.39
//	  and a rate of 0.4 (shipped; ten runs: 0.41)       0.40
//	  and startup 24                                    0.42
//
// With 8 parallel trials the shipped version has 0.46, with 16 0.48. The CMA-ES of Optuna 5 has
// 0.53, 0.68 and 0.73, random search 1.04. The package tpe has 0.30 on the same problems: it is
// better with so few trials.
//
// # Limits
//
// Several objectives are not supported. Correlations of categories are not learned. Suggestions
// have the same bits on every machine.
package cmaes
