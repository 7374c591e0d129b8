// Package median is the median stopping rule: a trial is stopped if its best result is worse than
// the median of the other trials' means up to the same iteration. It is milder than asha, needs no
// milestones, and suits trials with similar curves.
//
// Source: Golovin, Solnik, Moitra, Kochanski, Karro, Sculley, "Google Vizier: A
// Service for Black-Box Optimization", KDD 2017, section 3.2.2.
//
// The defaults of grace and min_trials are those of Katib; Ray Tune has the same min_trials.
//
// # Rules
//
// At each result from iteration grace on, a trial's running mean is the mean of its results since
// grace. The others are all trials that have reached this iteration earlier, including running ones:
// waiting for completed ones, as in the paper, would let the first batch of trials run to their
// ends. A trial that passed the iteration without a result there counts with its mean by then, as in
// Ray Tune. The trial is stopped if its best result, of all iterations, is strictly worse than the median
// of their running means, or if none of its results is finite. Ray Tune also counts a trial's best from
// its first result on. A result that is not finite makes the running mean the worst possible.
//
// # Limits
//
// Results that repeat earlier iterations after a restore are ignored. Each result is stored, in 16 bytes,
// and costs O(log n) for n trials; if trials report at different iterations, it costs O(n log n).
package median
