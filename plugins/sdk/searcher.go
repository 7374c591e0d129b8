package sdk

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A Searcher suggests the parameters of trials.
//
// Calls are not concurrent. Its answers must depend only on the [Problem], its options, the events
// observed so far and the requests' seeds.
type Searcher interface {
	// Observe receives the events since the last call, in order. The searcher may keep what the
	// events point to, but not the slice of events.
	Observe(ctx context.Context, events []Event) error
	// Suggest answers the requests, in order. It may return fewer suggestions than requests; then
	// Suggestions.Status says why.
	Suggest(ctx context.Context, requests []Request) (Suggestions, error)
}

// A Request asks for one suggestion.
type Request struct {
	// Trial is the suggestion's number, from 0 in the order of the requests. It is the trial's
	// number if there are no trials from other sources (points of the user).
	Trial uint32
	// Seed is the only source of randomness for this suggestion.
	Seed uint64
	// Given is a point whose non-NaN coordinates are fixed (grid axes, partial points of the user),
	// or nil. The SDK applies them to the answer; a searcher that models them gives better
	// suggestions.
	Given space.Point
}

// Suggestions is the answer to requests.
type Suggestions struct {
	// Points are the suggestions for the first len(Points) requests.
	Points []space.Point
	// Status says why there are fewer points than requests.
	Status Status
}

// Status says whether a searcher can make suggestions.
type Status uint8

const (
	// Ready: every request is answered.
	Ready Status = iota
	// Wait: no suggestion now; ask again after the next event.
	Wait
	// Exhausted: no more suggestions ever.
	Exhausted
)

// SearcherPlugin describes a searcher to be served.
type SearcherPlugin struct {
	Info
	// Open checks everything that can be checked and returns the searcher. options is a JSON object
	// that conforms to Info.Options.
	Open func(p Problem, options []byte) (Searcher, Traits, error)
}

// Traits are properties of an opened searcher or scheduler, which may depend on its options.
type Traits struct {
	// Independent: suggestions do not depend on results, so the host may request them before slots
	// are free, and does not send the results of running trials (searchers).
	Independent bool
	// Quiet: it never decides anything, so the host need not ask (schedulers; fifo is one).
	Quiet bool
	// RunAhead, if not 0, lets a trial continue when the decision on its last result takes long.
	// Its next result waits for that decision (schedulers).
	RunAhead int
	// Metrics: events must contain all metrics, not only the losses.
	Metrics bool
	// Saves: the scheduler uses checkpoints (pausing, exploiting), so trials must be able to make
	// them (schedulers).
	Saves bool
	// CombinesGrid: it combines the grid axes of the space itself, so requests do not fix them. It suggests
	// each combination once before it repeats one (searchers).
	CombinesGrid bool
	// Again: it is told the results of a restarted trial also for iterations that the trial had reported before
	// (B-061), and decides on them. Without it, it is told each iteration once.
	Again bool
	// Requires names metrics that every result must have in addition to the objectives (B-014).
	Requires []string
}

// Snapshotter is implemented by searchers and schedulers that can be restored faster than by
// sending the whole history again.
type Snapshotter interface {
	// Snapshot returns the state after the events observed so far.
	Snapshot() ([]byte, error)
	// Restore is called once, before any other call.
	Restore(snapshot []byte) error
}
