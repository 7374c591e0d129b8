// Package pbt is population based training: trials train side by side, and at
// intervals the worst of them go on from a checkpoint of one of the best, with
// its parameters a little changed. What comes out is a schedule of parameters
// rather than one assignment. Use it for long trainings whose best learning rate
// or regularisation changes on the way. Where fewer trials run at a time than the
// population has, set sync: only then do those that wait for their turn get it at every
// interval. Otherwise each trains to its end first, and the last have none to learn from.
//
// Source: Jaderberg, Dalibard, Osindero, Czarnecki, Donahue, Razavi, Vinyals,
// Green, Dunning, Simonyan, Fernando, Kavukcuoglu, "Population Based Training of
// Neural Networks", 2017, https://arxiv.org/abs/1711.09846.
//
// # Rules
//
// At its interval a trial is ranked among the trials that have not ended, each
// by its last interval. Of n, ⌈n·quantile⌉ but at most half count as worst, as
// many as best; one with a loss that is not finite is always among the worst and
// never a donor. One of the worst is paused, and told to go on from the last
// checkpoint of one of the best, chosen evenly among those that have one. It is
// ranked again at its next interval. A checkpoint that leaves nothing to train, being
// at max or at the furthest iteration at which a trial was complete, is none.
//
// A checkpoint may be an interval old, so that those of checkpoint.every serve;
// one of the best without is paused for a moment, because that makes one. With
// sync every trial pauses at the interval, and all go on together.
//
// Exploring knows the space. Numbers move by the factor, those on a linear scale
// by at least the factor's share of a tenth of their range, so that zero is left
// too; they stay inside their bounds and on their steps, and where a move is less
// than a step it is one, so that 1 can become 2. At a bound they turn back.
// Ordinals move to a neighbour. Choices are only drawn anew. Parameters that come
// to exist by another's change are drawn, those that cease to are dropped. After
// 20 tries that break a constraint the donor's point is taken as it is. All
// randomness is derived from the seed, the trial's number and a count.
//
// `tunehost lineage DIR` draws what came of it, and prints the schedule of a trial for
// the scheduler pbt-replay.
//
// # Limits
//
// It needs checkpoints, and with sync a planned number of trials. The population
// is a sorted list: finding a rank is O(log n), but each result moves up to n
// entries of 16 bytes, which is what populations of some thousands bear.
// Donors are trials that have not ended. Grid parameters are taken over from the
// donor unchanged.
package pbt
