// Package asha is the asynchronous successive halving algorithm: trials are compared at rungs,
// iterations that grow by a factor, and only the best fraction of those that reached a rung
// continues to the next one. No trial waits for another. Start with this scheduler if trials report
// intermediate results.
//
// Source: Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht, Talwalkar,
// "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020,
// https://arxiv.org/abs/1810.05934.
//
// # Defaults
//
// The paper uses a reduction_factor of 4 and finds little difference; theory prefers the integer
// nearest e. With 3 the next rung comes sooner, so that a slow starter has one more chance;
// Hyperband uses it too. The bracket of a trial is drawn from the seed and the trial's number, in
// Hyperband's proportions. The type promotion is the paper's algorithm; it wastes less on early
// lucky trials, but needs checkpoints that are cheap to restore.
//
// # Rules
//
// Rungs are grace, grace·factor, grace·factor², … up to max, rounded down to integers.
//
// A trial is recorded at the highest rung that its iteration has reached, if it is above its last
// rung. It is not recorded at skipped rungs: a trial that reports every fifth iteration cannot be
// compared at iteration 1. Results below the next rung are ignored, even if they are repeated after
// a restore.
//
// Stopping: of n trials recorded at a rung, including this one, the best ⌊n/factor⌋, at least one,
// continue; trials equal to the last of these continue too. So the first always continues.
//
// Promotion: the best ⌊n/factor⌋ of n are promoted, each once; if losses are equal, the earlier
// trial is better. One result makes at most one trial promotable. If it is the trial that reported,
// it continues without a pause.
//
// A loss that is not finite is recorded as the worst and always stops its trial at the rung. Trials
// that ended keep their places at their rungs. The end of a trial by a stop rule counts as its last
// result.
//
// # Limits
//
// It compares one objective. With promotion no trial reaches max if there are fewer trials than
// reduction_factor to the power of the number of rungs below max. Paused trials are stopped when no
// remaining trial could promote them, which requires a planned number of trials or the end of the
// search. With brackets, trials are compared only within their own bracket.
package asha
