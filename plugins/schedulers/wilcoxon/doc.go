// Package wilcoxon stops trials that are worse than the best one on the same
// folds, by a signed-rank test. It is for trials that report one value for each
// fold of a cross-validation, each seed or each prompt: the iteration is the
// fold's number, and the values are of one kind, not a curve that improves.
//
// Source: Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics
// Bulletin 1 (1945); zeros as in Pratt, "Remarks on Zeros and Ties in the Wilcoxon
// Signed Rank Procedures", JASA 54 (1959). That the trial's mean is looked at too
// is from Optuna's WilcoxonPruner.
//
// # Rules
//
// The best trial is, of those that came to their ends, one of those with most
// folds: the one with the best mean, of equals the earlier. So a trial that ended
// after one lucky fold is not what others are held against. While none has ended
// nothing is stopped.
//
// At each result the trial is compared with the best one on the folds that both
// have. It is stopped when the differences are so much to its disadvantage that
// chance brings about the like with less than the threshold's probability (one
// side), and its mean over these folds is worse too: a trial with a better or equal
// mean always goes on.
//
// Up to 25 folds with differences the probability is exact, ties included; beyond
// it is that of the normal distribution with the variance of the ranks as they
// are, ties included. Folds without a difference take part in the ranking and
// favour neither. A value that is not finite is worse than all that are.
//
// # Limits
//
// Folds should come in the same order, or nothing is shared at first; shuffle them
// once for all trials. Results that repeat earlier folds after a restore are
// ignored. The test is made anew at each fold, so that over many folds more than
// the threshold's share of good trials is stopped; the mean's guard keeps most of
// them. A result costs O(f log f) for f folds, whatever the number of trials.
package wilcoxon
