// Package median is the median stopping rule: a trial is stopped when the best
// that it ever reported is worse than the median of what the others had averaged
// by the same iteration. It is milder than asha, needs no milestones, and suits
// trials whose curves look alike.
//
// Source: Golovin, Solnik, Moitra, Kochanski, Karro, Sculley, "Google Vizier: A
// Service for Black-Box Optimization", KDD 2017, section 3.2.2.
//
// The defaults of grace and min_trials are Katib's, min_trials is Ray Tune's, too.
//
// # Rules
//
// At each result from iteration grace on, a trial's running mean is the mean of
// its results from grace to now. The others are all trials that reported this
// very iteration before, running ones included: waiting for completed ones, as
// the paper does, would let the first batch of trials run to their ends. The
// trial is stopped when its best result is strictly worse than the median of
// their running means, or when none of its results is a finite number. A result
// that is not finite makes its trial's running mean the worst there is.
//
// # Limits
//
// Trials are compared at iterations that they both report; with trainables that
// report at different iterations nothing is ever stopped. Results that repeat
// earlier iterations after a restore are ignored. Each result is kept, in 16
// bytes, and costs O(log n) for n trials.
package median
