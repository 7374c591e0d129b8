// Package hyperband is synchronous Hyperband: trials are gathered in brackets,
// each of which halves itself at its milestones when all its trials have arrived.
// It compares like with like, where asha decides on whoever came first, and pays
// with waiting. Prefer asha unless the order in which trials come is misleading.
//
// Source: Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, "Hyperband: A Novel
// Bandit-Based Approach to Hyperparameter Optimization", JMLR 18 (2018),
// https://arxiv.org/abs/1603.06560.
//
// The option max is the paper's R, reduction_factor its η.
//
// # Rules
//
// With smax = ⌊log_η max⌋, bracket s has ⌈(smax+1)/(s+1)·η^s⌉ trials, and its
// milestones are ⌊max/η^s⌋, …, ⌊max/η⌋, max. (81, 3) has brackets of 5 trials
// that begin at 81, 8 at 27, 15 at 9, 34 at 3 and 81 at 1; (100, 4) of 4 at 100,
// 8 at 25, 22 at 6 and 64 at 1. Trials fill them in this order, from the one
// that halves least, and then again from the first. max is a trial's total, not
// an increment.
//
// A trial that arrives at its milestone (the first result at or beyond it) is
// paused. When the bracket is full, or no trial will be added any more, and
// none of its trials is still on the way, the best ⌈n/η⌉ of the n that set out
// for the milestone go on, by what they reported on arrival, of equals the
// earlier trial. The others are stopped; their reasons have what they reached.
// The trial that arrives last needs no pause. A loss that is not finite never
// goes on.
//
// Trials that fail, end or are removed on the way are not waited for, and their
// places are not filled again, so that every bracket ends.
//
// # Limits
//
// It needs checkpoints, and knows that no trial will be added only from a
// planned number of trials or from the searcher's end: a searcher that waits for
// running trials while all of them are paused would wait for ever. A halving
// sorts its bracket, so that a result costs O(log n) on average, not each.
package hyperband
