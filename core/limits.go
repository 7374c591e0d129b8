package core

// Limits of one experiment, in one place; the unit is last in the name.
const (
	// maxAheadTrials is how many suggestions may wait beyond the free slots
	// when the searcher does not learn from results; fewer where few run.
	maxAheadTrials = 64
	// maxSharedTextsCount is how many reasons are looked for to be shared.
	maxSharedTextsCount = 1024
	// maxAskTrials is how many suggestions are asked for in one call.
	maxAskTrials = 1024
	// waitRetriesCount and waitRetryNS bound how long a searcher may say
	// "not yet" while nothing runs (B-006).
	waitRetriesCount = 5
	waitRetryNS      = 1_000_000_000
)
