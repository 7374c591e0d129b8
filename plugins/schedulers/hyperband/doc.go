// Package hyperband is synchronous Hyperband: trials are grouped in brackets, and each bracket halves
// at its milestones when all its trials have arrived. It compares trials at equal iterations, while
// asha decides in the order of arrival, and pays for this with waiting. Prefer asha unless the
// order of arrival is misleading.
//
// Source: Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, "Hyperband: A Novel
// Bandit-Based Approach to Hyperparameter Optimization", JMLR 18 (2018),
// https://arxiv.org/abs/1603.06560.
//
// The option max is the paper's R, reduction_factor its η.
//
// # Rules
//
// With smax = ⌊log_η max⌋, bracket s has ⌈(smax+1)/(s+1)·η^s⌉ trials, and its milestones are
// ⌊max/η^s⌋, …, ⌊max/η⌋, max. (81, 3) has brackets of 5 trials that start at 81, 8 at 27, 15 at 9,
// 34 at 3 and 81 at 1; (100, 4) of 4 at 100, 8 at 25, 22 at 6 and 64 at 1. Trials fill them in this
// order, starting with the one that halves least often, and then again. max is the total of a
// trial, not an increment.
//
// A trial that reaches its milestone (the first result at or beyond it) is paused. When the bracket
// is full, or no more trials will be added, and none of its trials is still on the way, the best
// ⌈n/η⌉ of the n that started towards the milestone continue, by their losses on arrival; if losses
// are equal, the earlier trial. The others are stopped with their losses as the reason. The last trial to
// arrive needs no pause. A trial with a loss that is not finite never continues.
//
// Trials that fail, end or are removed on the way are not waited for, and their places are not
// filled again, so every bracket ends.
//
// # Limits
//
// It needs checkpoints. It knows that no trial will be added only from a planned number of trials
// or from the end of the search: with a searcher that waits for running trials while all of them
// are paused, both would wait for ever. A halving sorts its bracket, so a result costs O(log n) on
// average.
package hyperband
