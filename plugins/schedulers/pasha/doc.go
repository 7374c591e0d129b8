// Package pasha is asynchronous successive halving that begins with two rungs and opens
// the next one only when the order of the trials has changed between the two highest.
// While it has not, training longer would tell nothing new about who is best. Use it to
// find a good configuration cheaply, and train that to its end afterwards: it may be that
// no trial comes to max.
//
// Source: Bohdal, Balles, Wistuba, Ermis, Archambeau, Zappella, "PASHA: Efficient HPO and
// NAS with Progressive Resource Allocation", ICLR 2023, https://arxiv.org/abs/2207.06940.
//
// Without epsilon, values are equals that differ by no more than the median distance between
// neighbours at the lower of the two rungs, which falls as trials get more.
//
// # Rules
//
// Rungs are asha's: grace, grace·factor, grace·factor², … up to max, and so is promotion:
// a trial is paused at each rung, and goes on when it is among the best ⌊n/factor⌋ of the
// n recorded there. But none goes on from the highest rung that is open, the second one
// at first.
//
// At each arrival there, those at the highest open rung are put in order by what they had
// there, and once more by what they had at the rung below. Where the trial of a place in
// the first order differs from the trial of the same place in the second by more than
// epsilon, by what both had at the rung below, the order has changed: the next rung is
// opened, and the best ⌊n/factor⌋ of those that wait go on at once. When the last rung
// has changed too, it is asha with promotion.
//
// A trial that skipped the rung below, because it reports rarely, cannot be compared,
// and opens the next rung. A loss that is not finite stops its trial at the rung, and has
// no place in the orders. Trials that ended keep theirs.
//
// # Limits
//
// The paper estimates epsilon from curves that cross more than once, for which a scheduler
// would have to hear of each result; its simpler rule by distances is used. An arrival at
// the highest open rung costs O(m log m) for m recorded there, every other result O(log n).
// It needs checkpoints, and trials that are still paused when no trial is left that could
// wake them are stopped (which takes a planned number of trials, or the end of the
// search). There are no brackets.
package pasha
