package terminal

import "github.com/tunehost/tunehost/host/view"

// Source knows how the experiment stands: [view.Board], for one, with the events of a
// [view.Follower]. It is asked a few times a second, and must answer at once: no walk over
// all trials, no waiting.
type Source interface {
	// Status is where the experiment stands. Counts has every trial.
	Status() view.Status
	// Rows returns at most perState trials of each state, in brief: of those that run
	// the ones that were started first, of those that wait the next, of the
	// others the last to get there.
	Rows(perState int) []view.Trial
	// Events are those since it was asked for them last; none where nobody shows any.
	Events() []view.Event
}
