// Package bohb is the Hyperband variant of BOHB, for the searcher bohb: its brackets start with
// many trials at the smallest budget, so that the searcher's model soon has results, and pause
// trials at their budgets, which is when that searcher uses their results.
//
//	searcher: {plugin: bohb}
//	scheduler: {plugin: bohb, options: {max: 81}}
//
// With other searchers the scheduler hyperband is equally good.
//
// Source: Falkner, Klein, Hutter, "BOHB: Robust and Efficient Hyperparameter
// Optimization at Scale", ICML 2018, https://arxiv.org/abs/1807.01774, and the
// authors' program HpBandSter.
//
// The option max is the paper's largest budget, min its smallest, which the model uses first;
// reduction_factor is its η.
//
// # Rules
//
// With smax the largest s for which max/η^s is at least min, bracket s has ⌊(smax+1)/(s+1)⌋·η^s
// trials, so that each halving divides without remainder, and its milestones are ⌊max/η^s⌋, …,
// ⌊max/η⌋, max. Trials fill brackets from smax, which halves most often, down to 0, and then again.
// (81, 1, 3) has brackets of 81 trials that start at 1, 27 at 3, 9 at 9, 6 at 27 and 5 at 81.
//
// The rules of halving, and of trials that fail, are those of hyperband.
//
// # Limits
//
// The limits are those of hyperband. Paused trials take no slot, so concurrency may be smaller than
// a bracket; a searcher with a limit of live trials must allow for the largest bracket.
package bohb
