// Package wilcoxon stops trials that are worse than the best one on the same folds, with a
// signed-rank test. It is for trials that report one value for each fold of a cross-validation,
// each seed or each prompt: the iteration is the number of the fold, and the values are comparable,
// not a curve that improves.
//
// Source: Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945);
// zeros as in Pratt, "Remarks on Zeros and Ties in the Wilcoxon Signed Rank Procedures", JASA 54
// (1959). The additional check of the trial's mean is from Optuna's WilcoxonPruner.
//
// # Rules
//
// The best trial is the completed trial with the best mean among those with the most folds; if means
// are equal, the earlier trial. So a trial that ended after one lucky fold is not the reference. No
// trial is stopped until one has completed.
//
// At each result the trial is compared with the best one on the folds that both have. It is stopped
// if the one-sided probability of differences this unfavourable is below the threshold and its mean
// over these folds is worse too: a trial with a better or equal mean always continues.
//
// With up to 25 differing folds the probability is exact, including ties; with more it is that of
// the normal distribution with the variance of the actual ranks, including ties. Folds without a
// difference are ranked and favour neither trial. A value that is not finite is worse than all
// finite ones.
//
// # Limits
//
// Folds should come in the same order, otherwise the first ones are not shared; shuffle them once
// for all trials. Results that repeat earlier folds after a restore are ignored. The test is
// repeated at each fold, so with many folds more than the threshold's share of good trials would be
// stopped; the check of the mean keeps most of them. A result costs O(f log f) for f folds,
// independently of the number of trials.
package wilcoxon
