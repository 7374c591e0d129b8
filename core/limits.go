package core

// Limits of one experiment, in one place; each name ends with the unit.
const (
	// maxAheadTrials is how many suggestions may wait beyond the free slots if the searcher does not learn
	// from results; fewer if few trials run.
	maxAheadTrials = 64
	// maxSharedTextsCount is how many reasons are compared in order to share them.
	maxSharedTextsCount = 1024
	// maxAskTrials is how many suggestions are requested in one call.
	maxAskTrials = 1024
	// waitRetriesCount and waitRetryNS limit how long a searcher may say "not yet" while nothing runs
	// (B-006).
	waitRetriesCount = 5
	waitRetryNS      = 1_000_000_000
	// maxKeptActions is up to how many actions the memory of a list is used again.
	maxKeptActions = 1024
	// maxLeases limits the held leases if the user does not.
	maxLeases = 1024
	// leaseRetryNS is the delay before a lease that was refused, or ended before it was of use, is
	// requested again; it doubles each time, up to leaseRetryMostNS.
	leaseRetryNS     = 1_000_000_000
	leaseRetryMostNS = 300_000_000_000
)
