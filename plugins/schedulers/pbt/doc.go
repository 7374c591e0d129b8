// Package pbt is population based training: trials train in parallel, and at intervals the worst of
// them continue from a checkpoint of one of the best, with slightly changed parameters. The result
// is a schedule of parameters rather than one assignment. Use it for long training runs whose best
// learning rate or regularisation changes over time. If fewer trials run at a time than the
// population has, set sync, so that trials take turns at every interval. Otherwise each trial
// trains to its end first, and the last ones have no others to learn from.
//
// Source: Jaderberg, Dalibard, Osindero, Czarnecki, Donahue, Razavi, Vinyals,
// Green, Dunning, Simonyan, Fernando, Kavukcuoglu, "Population Based Training of
// Neural Networks", 2017, https://arxiv.org/abs/1711.09846.
//
// # Rules
//
// At its interval a trial is ranked among the trials that have not ended, each by its last
// interval. Of n, ⌈n·quantile⌉ but at most half count as worst, and as many as best; a trial with a
// loss that is not finite is always among the worst and never a donor. One of the worst is paused,
// and continues from the last checkpoint of one of the best, chosen uniformly among those that have
// one. It is ranked again at its next interval. A checkpoint that leaves nothing to train, because
// it is at max or at the highest iteration at which a trial completed, is not used.
//
// A checkpoint may be an interval old, so checkpoints of checkpoint.every are used; one of the best
// without any is paused briefly, which creates one. With sync every trial pauses at the interval,
// and all continue together.
//
// Exploring respects the space. Numbers move by the factor, those on a linear scale by at least the
// factor's share of a tenth of their range, so that they can leave zero; they stay inside their
// bounds and on their steps, and a move of less than a step becomes one step, so that 1 can become
// 2. Ordinals move to a neighbour. At a bound a number without steps turns back; one with steps, and
// an ordinal, stay there, so that a good value of two is kept half of the time. Choices are only resampled.
// Parameters that come to exist by another's change are drawn; those that cease to exist are
// dropped. After 20 tries that violate a constraint the donor's point is used unchanged. All
// randomness is derived from the seed, the trial's number and a counter.
//
// `tunehost lineage DIR` draws the result, and prints the schedule of a trial for the scheduler
// pbt-replay.
//
// # Limits
//
// It needs checkpoints, and with sync a planned number of trials. The population is a sorted list:
// finding a rank is O(log n), but each result moves up to n entries of 16 bytes, which is suitable
// for populations of some thousands. Donors are trials that have not ended. Grid parameters are
// copied from the donor unchanged.
package pbt
