// Package mfpbt is population based training with several frequencies: the population is divided,
// and each part compares its trials at a different interval. The fast parts find what helps
// immediately. The slow parts keep what helps in the long run, which pbt loses when it follows the
// current leader, for example by lowering the learning rate too early. Use it instead of pbt for
// long training runs, of a hundred intervals and more, with at least four trials in each part.
//
// Source: Doulazmi, Lehuger, Toromanoff and others, "Multiple-Frequencies
// Population-Based Training", 2025, https://arxiv.org/abs/2506.03225.
//
// The paper has the periods [1, 10, 25, 50] for 1000 intervals. The other options are those of pbt.
//
// # Rules
//
// Trials are distributed to the subpopulations in the order of their numbers, permanently. Each is
// compared at each interval, as with pbt: it is ranked in its subpopulation, and the best ones save
// a checkpoint. Only each period-th comparison since a trial was last judged has further
// consequences; a trial with a loss that is not finite is judged at each.
//
// Of n in a subpopulation, ⌈n·quantile⌉ but at most half are best, and as many worst. One of the
// worst continues from one of the best with changed parameters, as with pbt; the best stay
// unchanged. As many as the best, those just above the worst, are open to migrants: the best of all
// other subpopulations that have a checkpoint. They take turns, the best first: each continues from
// the first remaining migrant if that one's loss is smaller. One of the worst continues from any
// better migrant if none of its own best has a checkpoint. A replaced trial keeps its rank until it
// is compared again.
//
// Migration is not symmetric. From a slower subpopulation a trial takes the checkpoint and the
// parameters, which have been tested for longer. From a faster one it takes only the checkpoint and
// the parameters that mutate excludes; the other parameters are those of the best trial of its own
// subpopulation, unless that one's loss is not finite. Nothing is changed at random.
//
// With sync all trials meet at the interval, and a subpopulation evolves at each period-th meeting:
// this is the paper's algorithm if quantile is 0.25 and the subpopulations have the same size,
// divisible by four. Without sync, donors are chosen by the state when the receiving trial has
// paused. With a single period it is pbt.
//
// `tunehost lineage DIR` draws the result, including the migrations.
//
// # Limits
//
// The limits are those of pbt. A subpopulation with one live trial does not take part, and one of
// two or three has few or no open trials: concurrency should be the population, or sync be true, so
// that trials take turns. A loss counts as of the trial's last interval. On recorded curves it
// shows little: see bench/RESULTS.md.
package mfpbt
