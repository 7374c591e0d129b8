// Package resources gives the resources of ended trials to the running ones. Towards the end of an
// experiment, when no trial is waiting, most of a machine would be idle: trials that can use more
// are paused, get a larger request and are resumed from their checkpoints. Use it if trials get
// faster with more resources, and a pause costs little compared with the remaining training. It
// stops no trial.
//
// Source: Ray Tune's ResourceChangingScheduler with DistributeResources and
// DistributeResourcesToTopJob; like these it adds whole multiples of a trial's first request.
//
// # Rules
//
// Slots are free when all trials were added (the planned number, or the search has ended) and there
// are fewer live trials than slots. A waiting trial is live: it has the first claim.
//
// Even: of n trials each has ⌊slots/n⌋, and each remaining slot goes to the next trial that
// reports. A trial is changed when it reports a result, at least interval iterations after its
// start and its last change. It is paused; then its share is computed again, and it gets the
// request and is resumed. A trial with more than its share, because a user added others or because
// it is no longer the best, gives back slots in the same way.
//
// The sum of requests may temporarily exceed the machine, if one trial gets more before another
// gave back. The host then lets the resumed trial wait until it fits.
//
// # Limits
//
// A scheduler knows neither the current resources of the machine nor the requests of trials; hence
// the options slots and request. A request that the machine can never satisfy is an error of the
// host. Do not combine it with requests that a trainable computes itself (B-038), or with groups
// (placement in the experiment file), which it would replace by plain requests. Trials need
// checkpoints, and must read their granted resources when they start. A result costs at most
// O(slots).
//
// With base, a key of the experiment file, another scheduler decides on the same trials: {plugin:
// resources, base: {plugin: asha, max: 27}}. Trials that the base stops free their slots; trials
// that it pauses stay paused until it resumes them.
package resources
