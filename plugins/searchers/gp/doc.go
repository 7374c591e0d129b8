// Package gp suggests points at which a Gaussian process, fitted to the results so far, expects the
// largest improvement (Bayesian optimisation). Use it if a trial takes minutes or more, for up to a
// few hundred trials, one or several objectives, and any space. A suggestion costs milliseconds.
//
// # Method
//
// Until startup trials have finished with a finite result, points are those of a Sobol sequence, with
// one objective in the middle three fifths of each number's range, until a trial fails or ends without
// a finite loss, or four times as many points have no result yet. Then, for each suggestion:
//
//   - Losses are warped with the power transform of Yeo and Johnson (2000), with the power from 0
//     to 1 that makes them most nearly normal, so that huge losses do not hide differences
//     between good ones. Trials that failed, ended without a result or have an infinite loss
//     count as the worst finite one.
//   - The kernel is a Matérn kernel of smoothness 5/2 with a length scale for each parameter.
//     Two categories are equal or not. A parameter that does not exist has the middle of its
//     range; a choice that does not exist has a category of its own. Branches are distinguished
//     by the choice that they depend on.
//   - Before any result, with one objective, the loss at a bound of a number is expected to be 0.2
//     standard deviations above that in the middle, along a parabola: people choose ranges that are
//     wide enough, and suggestions would go to the bounds first, where the model knows least (C. Oh and
//     others, BOCK: Bayesian Optimization with Cylindrical Kernels, 2018). Results count for more: a
//     best point in a corner is found.
//   - Length scales, scale and noise are the most probable ones (maximum a posteriori, by
//     gradient). The prior expects length scales that grow with the square root of the number
//     of parameters (C. Hvarfner and others, Vanilla Bayesian Optimization Performs Great in
//     High Dimensions, 2024). They are fitted again whenever the number of ended trials has
//     grown by a sixteenth.
//   - The acquisition function is the logarithm of the expected improvement (S. Ament and
//     others, Unexpected Improvements to Expected Improvement for Bayesian Optimization, 2023)
//     over the smallest mean at a trial, which is robust to noise. For a fifth of the
//     suggestions the model assumes more variation than the fit, so that a wrong model is
//     detected.
//   - It is evaluated at random points and at points around the best ones. The best of both are
//     improved in turn, along the gradient inside the bounds and by trying values of choices
//     and integers one by one.
//
// Trials without a result are in the model with their expected result: its mean does not change,
// but its uncertainty there vanishes, so that parallel trials keep a distance if there is something
// to learn elsewhere.
//
// With several objectives each suggestion draws random weights and minimises the augmented
// Chebyshev scalarisation (J. Knowles, ParEGO, 2006), with each objective warped and scaled to the
// range from 0 to 1.
//
// With cost, the improvement is divided by a power of the expected time: a log-linear regression of
// the trials' seconds on the features (J. Snoek and others, Practical Bayesian Optimization of Machine
// Learning Algorithms, 2012). While a scheduler stops trials early it is the time of an iteration:
// good points would seem slow, since they are let to go on. Unless cost is set, it is 1 then for times
// that were told with the results, with one objective, and 0 otherwise: with measured times the same
// results would not give the same suggestions.
//
// A trial counts when it ends or pauses. Under a scheduler that stops trials early, only losses at
// one iteration are compared, the largest that three trials have reached. Those that were stopped
// before are not in the model: where early losses do not order the final ones, they would lead away
// from the best points, and where they do, they helped no more than the trials that came to the end,
// also as uncertain observations of their final values, as in K. Swersky and others, Freeze-Thaw
// Bayesian Optimization, 2014. bench/HISTORY.md has the figures. With several objectives the iteration
// is the largest that a few more trials have reached than there are parameters (S. Falkner and others,
// BOHB, 2018), and the last 48 trials that were stopped before count as worse than three quarters of
// the compared ones.
//
// While trials are stopped, a tenth of the points is random, and the model has at most 120 trials and
// half of the candidates, since there are more trials, which cost less. All points are random until
// enough trials have reached a ninth of the longest training. If trials end early that are not worse
// than others there, they need no more iterations, and last losses count. Points that violate a
// constraint are not evaluated, and an ascent stops before them. No point of a trial is suggested
// again, unless repeats is set: where the optimum is at a bound, improvement may be expected exactly
// there for ever.
//
// # Cost
//
// With more than max_trials trials the model uses the best third of that number, the last third,
// and a random sample of all. It stays accurate near the best points, and a suggestion does not
// cost more after 1,000 trials than after 250. With 10 parameters it takes 2 ms of CPU after 50
// trials and 5 to 6 ms after 200, 10 ms with two objectives, and 24 ms with 40 parameters
// (BenchmarkSuggest). A restarted searcher needs one fit, a tenth of a second.
//
// # Defaults
//
// Mean normalised regret over 39 public problems (0 the best known, 1 the median of random search after 100 or 200
// trials, at most 2), five runs of each: 0.18; tpe has 0.30. gp is by far the best alone for functions without many
// minima and for choices. It is worse than tpe where it is misled: by many minima, and in some spaces by branches
// that look bad at first. bench/RESULTS.md has the tables.
//
// # Limits
//
// Functions with hundreds of minima in many dimensions look flat to it. For more than a thousand
// trials use tpe or cmaes. Suggestions have the same bits on every machine; for this it has its own
// linear algebra (plugins/searchers/internal/dense).
package gp
