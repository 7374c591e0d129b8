// Package resources gives the resources of trials that have ended to those that
// still train. Towards the end of an experiment, when nothing waits any more, most of
// a machine would idle: trials that can use more are paused, given a larger request
// and resumed from their checkpoints. Use it when trials get faster with more, and a
// pause costs little against what remains to train. It stops no trial.
//
// Source: Ray Tune's ResourceChangingScheduler with DistributeResources and
// DistributeResourcesToTopJob; like these it adds whole multiples of what a trial
// asks for at first.
//
// # Rules
//
// Slots are free when all trials were added (as many as are planned, or the search
// has ended) and fewer live than there are slots. A trial that waits lives: it has
// the first claim.
//
// Even: of n trials each has ⌊slots/n⌋, and as many as there are slots left over have
// one more, whoever reports first. A trial is changed when it reports a result, not
// earlier than interval iterations after its start and after its last change. It is
// paused; when it has paused, its share is counted anew, and it is given the request
// and resumed. A trial that has more than its share, because a user added others or
// because it is not the best any more, gives back in the same way.
//
// What was asked for in all may for a while be more than there is, when one has been
// given more before another gave back. The host's accounting then lets the resumed
// trial wait until it fits.
//
// # Limits
//
// A scheduler is told neither what the machine has nor what trials ask for: hence the
// options slots and request. A request that the machine can never hold is the host's
// error. Requests that a trainable computes itself (B-038) must not be combined with
// it, nor must groups (placement in the experiment file), which it would make plain
// requests. Trials need checkpoints, and must look at what they were granted when they
// start. A result costs O(slots) at most.
//
// With base, a key of the experiment file, another scheduler decides on the same trials:
// {plugin: resources, base: {plugin: asha, max: 27}}. What the base stops frees slots; what
// it pauses stays paused until it resumes it.
package resources
