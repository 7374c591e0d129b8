// Package pasha is asynchronous successive halving that starts with two rungs and opens the next
// one only if the ranking of the trials differs between the two highest. While it does not, longer
// training would not change which trials are best. Use it to find a good configuration cheaply, and
// then train that to its end: possibly no trial reaches max.
//
// Source: Bohdal, Balles, Wistuba, Ermis, Archambeau, Zappella, "PASHA: Efficient HPO and
// NAS with Progressive Resource Allocation", ICLR 2023, https://arxiv.org/abs/2207.06940.
//
// Without epsilon, values are equal if they differ by at most the median distance between
// neighbours at the lower of the two rungs, which decreases with the number of trials.
//
// # Rules
//
// The rungs and the promotion are those of asha: grace, grace·factor, grace·factor², … up to max; a
// trial is paused at each rung, and continues if it is among the best ⌊n/factor⌋ of the n recorded
// there. But none continues from the highest open rung, initially the second one.
//
// At each arrival there, the trials at the highest open rung are ordered by their losses there, and
// by their losses at the rung below. If the trials at the same place in both orders differ by more
// than epsilon, in their losses at the rung below, the ranking has changed: the next rung is
// opened, and the best ⌊n/factor⌋ of the waiting trials continue at once. After the last rung has
// opened, it is asha with promotion.
//
// A trial that skipped the rung below, because it reports rarely, cannot be compared, and opens the
// next rung. A loss that is not finite stops its trial at the rung, and has no place in the orders.
// Trials that ended keep theirs.
//
// # Limits
//
// The paper estimates epsilon from curves that cross more than once, which requires every result;
// this implementation uses its simpler rule by distances. An arrival at the highest open rung costs
// O(m log m) for m recorded there, every other result O(log n). It needs checkpoints. Paused trials
// are stopped when no remaining trial could wake them, which requires a planned number of trials or
// the end of the search. There are no brackets.
package pasha
