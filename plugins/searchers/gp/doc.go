// Package gp suggests points where a Gaussian process, fitted to the results so far,
// expects the largest improvement: Bayesian optimisation. Use it where a trial takes
// minutes or more, for up to a few hundred of them, one or several objectives, any
// space. A suggestion costs milliseconds.
//
// # Method
//
// Until startup trials have finished with a finite result points are those of a Sobol
// sequence. Then, for each suggestion:
//
//   - Losses are warped: Yeo and Johnson's power transform (2000) with a power from 0 to
//     1 that makes them most nearly normal, so that huge losses do not hide
//     differences between good ones. Trials that failed or have an infinite loss
//     count as the worst that has a finite one.
//   - The kernel is Matérn's of smoothness 5/2 with a length scale for each parameter.
//     Two categories are equal or not. A parameter that does not exist has the middle
//     of its range, a choice that does not a category of its own; what tells branches
//     apart is the choice that they depend on.
//   - Length scales, scale and noise are the most probable ones (maximum a posteriori,
//     by gradient). The prior expects length scales that grow with the root of the
//     number of parameters (C. Hvarfner and others, Vanilla Bayesian Optimization
//     Performs Great in High Dimensions, 2024). They are fitted anew whenever a
//     sixteenth more trials have ended than the last time.
//   - The acquisition is the logarithm of the expected improvement (S. Ament and
//     others, Unexpected Improvements to Expected Improvement for Bayesian
//     Optimization, 2023) over the least mean at a trial, which noise does not deceive.
//     For a fifth of the suggestions the function is taken to vary more than the fit
//     says, so that a model that is wrong finds out.
//   - It is looked for among random points and points around the best ones; the best of
//     both are improved in turn along the gradient inside the bounds, and by trying
//     the values of choices and integers one by one.
//
// Trials without a result are in the model with what it expects of them: its mean stays
// as it is, but it is sure of itself there, so that trials at the same time keep apart
// where anything is to be learned elsewhere.
//
// With several objectives each suggestion draws random weights and minimises their
// augmented Chebyshev scalarisation (J. Knowles, ParEGO, 2006), each objective warped
// and brought to the range from 0 to 1.
//
// With cost the improvement is divided by a power of the expected time: a log-linear
// regression of the trials' seconds on the features. Trials that a scheduler stopped
// count with the time that they took until then.
//
// A trial counts with its last result from when it ends, whether it was stopped or
// not, or is paused. Points that break a constraint are not looked at, and an ascent
// stops short of them. In a finite space of at most 65,536 points none is suggested
// twice.
//
// # Cost
//
// With more than max_trials trials the model is made of the best third of that number,
// the last third, and a random sample of all: it stays good where it matters, and a
// suggestion does not cost more after 1,000 trials than after 250. With 10 parameters it
// takes 6 ms of CPU after 50 trials and 23 ms after 200, also with two objectives, 59
// ms with 40 parameters (BenchmarkSuggest). A restarted searcher needs one fit, a tenth
// of a second.
//
// # Defaults
//
// Mean normalised regret over 39 public problems (0 the best known, 1 the median of
// random search after 100 or 200 trials, at most 2), five runs of each: 0.28, with 8
// trials at a time 0.27 (two runs). tpe has 0.30. It is much the best for numbers in
// few dimensions and for choices, and worse than tpe where it is deceived: by noise,
// many minima, and branches that look bad at first. bench/RESULTS.md has the tables.
//
// # Limits
//
// Functions with hundreds of minima in many dimensions are flat to it. More than a
// thousand trials are better left to tpe or cmaes. Suggestions have the same bits on
// every machine, which is why it has linear algebra of its own
// (plugins/searchers/internal/dense).
package gp
