// Package asha is the asynchronous successive halving algorithm: trials are
// compared at rungs, which are iterations that grow by a factor, and only the
// best fraction of those that reached a rung trains on to the next. Nobody waits
// for anybody. It is the scheduler to begin with when trials report as they go.
//
// Source: Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht, Talwalkar,
// "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020,
// https://arxiv.org/abs/1810.05934.
//
// # Defaults
//
// The paper uses a reduction_factor of 4 and finds little difference; theory prefers the
// whole number nearest e. With 3 a rung is reached sooner after the last, so that a late
// bloomer has one more chance, and it is what Hyperband uses. Which bracket a trial is in is
// drawn from the seed and the trial's number, in Hyperband's proportions. The type promotion
// is the paper's algorithm; it wastes less on trials that came early and were lucky, but
// needs checkpoints that can be restored cheaply.
//
// # Rules
//
// Rungs are grace, grace·factor, grace·factor², … up to max, in whole numbers.
//
// A trial is recorded at the highest rung that its iteration has reached and
// that is above the last one it was recorded at. Rungs that it skipped, because
// it reports every fifth iteration, never hear of it: what it had at iteration 5
// says nothing fair about iteration 1. Results below its next rung count for
// nothing, however often they are repeated after a restore.
//
// Stopping: of n recorded at a rung, this one included, the best ⌊n/factor⌋ and
// at least one go on; equals of the last of these go on too. So the first always
// goes on.
//
// Promotion: the best ⌊n/factor⌋ of n are promoted, each once; of equals the
// earlier. One result makes at most one more trial promotable. When it is the
// trial that reported, it goes on without a pause.
//
// A loss that is not finite is recorded as the worst and always stops its trial
// at the rung. Trials that ended keep their place at the rungs that they reached:
// what was learned there stays true. The end of a trial that a stop rule ended
// counts as its last result.
//
// # Limits
//
// It compares one objective. Promotion lets nothing reach max when there are
// fewer trials than reduction_factor to the number of rungs below max; trials
// that are still paused when no trial is left that could promote them are
// stopped (which takes a planned number of trials, or the end of the search).
// With brackets, trials are compared within their own bracket only.
package asha
