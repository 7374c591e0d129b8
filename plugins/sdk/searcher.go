package sdk

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Searcher suggests the parameters of trials.
//
// Calls come one at a time. What it answers must depend only on the
// [Problem], its options, the events observed so far and the requests' seeds.
type Searcher interface {
	// Observe tells what happened since the last call, in order. What the events
	// point to may be kept, the slice of events not.
	Observe(ctx context.Context, events []Event) error
	// Suggest answers the requests, in order. It may answer fewer than were
	// asked; Suggestions.Status then says why.
	Suggest(ctx context.Context, requests []Request) (Suggestions, error)
}

// Request asks for one suggestion.
type Request struct {
	// Trial is the suggestion's number, from 0 in the order of the requests:
	// the trial's own where no trials come from elsewhere (the user's points).
	Trial uint32
	// Seed is the only randomness that may be used for this suggestion.
	Seed uint64
	// Given is a point whose non-NaN coordinates are fixed (grid axes,
	// partial points of the user), or nil. The SDK lays them over whatever
	// the searcher answers; a searcher that models them does better.
	Given space.Point
}

// Suggestions is the answer to requests.
type Suggestions struct {
	// Points are the suggestions for the first len(Points) requests.
	Points []space.Point
	// Status says why Points are fewer than the requests.
	Status Status
}

// Status is what a searcher says beside its suggestions.
type Status uint8

const (
	// Ready: every request is answered.
	Ready Status = iota
	// Wait: nothing now; ask again after something has happened.
	Wait
	// Exhausted: nothing ever again.
	Exhausted
)

// SearcherPlugin is a searcher as it is served.
type SearcherPlugin struct {
	Info
	// Open checks everything that can be checked and makes the searcher.
	// options is a JSON object that conforms to Info.Options.
	Open func(p Problem, options []byte) (Searcher, Traits, error)
}

// Traits are what an opened searcher or scheduler says about itself, which may
// depend on its options.
type Traits struct {
	// Independent: suggestions do not depend on results, so the host may ask
	// ahead of free slots (searchers).
	Independent bool
	// Quiet: it never decides anything, so that the host need not ask
	// (schedulers; fifo is one).
	Quiet bool
	// RunAhead, where it is not 0, lets a trial train on when the decision on
	// its last result takes long. Its next result waits for that decision
	// (schedulers).
	RunAhead int
	// Metrics: events must carry all metrics, not only the losses.
	Metrics bool
	// Saves: the scheduler works on checkpoints (pausing, exploiting), so
	// that trials must be able to make them (schedulers).
	Saves bool
	// Requires names metrics that every result must have beside the
	// objectives' (B-014).
	Requires []string
}

// Snapshotter is implemented by searchers and schedulers that can be restored
// faster than by telling them the whole history again.
type Snapshotter interface {
	// Snapshot returns the state after the events observed so far.
	Snapshot() ([]byte, error)
	// Restore is called once, before anything else.
	Restore(snapshot []byte) error
}
