// Package bohb is the Hyperband of BOHB, the partner of the searcher bohb: its
// brackets begin with many trials at the smallest budget, so that the searcher's
// model soon has results to learn from, and pause trials at their budgets, which is
// when that searcher takes their results in.
//
//	searcher: {plugin: bohb}
//	scheduler: {plugin: bohb, options: {max: 81}}
//
// With other searchers the scheduler hyperband is as good.
//
// Source: Falkner, Klein, Hutter, "BOHB: Robust and Efficient Hyperparameter
// Optimization at Scale", ICML 2018, https://arxiv.org/abs/1807.01774, and the
// authors' program HpBandSter.
//
// The option max is the paper's largest budget, min its smallest, from which the model learns
// first; reduction_factor is its η.
//
// # Rules
//
// With smax the largest s for which max/η^s is at least min, bracket s has
// ⌊(smax+1)/(s+1)⌋·η^s trials, so that each halving divides without a rest, and its
// milestones are ⌊max/η^s⌋, …, ⌊max/η⌋, max. Trials fill brackets from smax, which
// halves most, down to 0, and then again. (81, 1, 3) has brackets of 81 trials that
// begin at 1, 27 at 3, 9 at 9, 6 at 27 and 5 at 81.
//
// How a bracket halves, and what happens when trials fail on their way, is as with
// hyperband.
//
// # Limits
//
// Those of hyperband. Paused trials take no slot, so that concurrency may be smaller
// than a bracket; a searcher that is limited to so many live trials must allow for
// the largest.
package bohb
