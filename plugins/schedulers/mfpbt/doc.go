// Package mfpbt is population based training with several frequencies: the population
// is divided, and each part compares its trials after other intervals. The fast parts
// find early what helps now; the slow parts keep what helps in the long run, which
// pbt loses when it follows who is ahead at the moment, for instance by lowering the
// learning rate too early. Use it instead of pbt for long trainings, of a hundred
// intervals and more, with at least four trials in each part.
//
// Source: Doulazmi, Lehuger, Toromanoff and others, "Multiple-Frequencies
// Population-Based Training", 2025, https://arxiv.org/abs/2506.03225.
//
// The paper has the periods [1, 10, 25, 50] for 1000 intervals. The other options are those of
// pbt.
//
// # Rules
//
// Trials are dealt out to the sub-populations in the order of their numbers, and stay.
// Each is compared at each interval, as with pbt: it gets its rank in its sub-population,
// and one of the best saves a checkpoint. Only each period-th comparison since a trial was
// last judged has another consequence; one whose loss is not finite is judged at each.
//
// Of n in a sub-population, ⌈n·quantile⌉ but at most half are best, as many worst. One of
// the worst goes on from one of the best with changed parameters, as with pbt; the best
// stay as they are. As many as the best, those just above the worst, are open to migrants:
// the best of all other sub-populations that have a checkpoint. They take turns, from
// their own best on: each goes on from the first migrant that is left, if that one's loss
// is smaller. One of the worst goes on from any better migrant when none of its own
// best has a checkpoint. A trial that was replaced keeps its rank until it is compared
// again.
//
// Migration is not symmetric. A migrant from a slower sub-population is taken with its
// parameters, which have stood the test of a longer time. Of one from a faster
// sub-population only the checkpoint is taken, with what mutate leaves out; the other
// parameters are those of the best trial of the own sub-population, unless that one's loss
// is not finite. Nothing is changed at random.
//
// With sync all meet at the interval, and a sub-population evolves at each period-th
// meeting: the paper's algorithm, where quantile is 0.25 and the sub-populations have the
// same size, divisible by four. Without, donors are chosen as the trials stand when
// the one that takes them has paused. With a single period it is pbt.
//
// `tunehost lineage DIR` draws what came of it, with the migrations.
//
// # Limits
//
// Those of pbt. A sub-population of which one trial is alive takes no part, and one of two
// or three has few or none that are open: concurrency should be the population, or sync
// be true, with which trials take turns. A loss counts as it was at the trial's last
// interval. On recorded curves it shows little: see bench/RESULTS.md.
package mfpbt
