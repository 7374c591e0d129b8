package terminal

import "github.com/tunehost/tunehost/host/view"

// Source describes the state of the experiment: for example a [view.Board], with the events of a
// [view.Follower]. It is called a few times a second and must answer immediately: no walk over all
// trials, no waiting.
type Source interface {
	// Status returns the status of the experiment. Counts has every trial.
	Status() view.Status
	// Rows returns at most perState trials of each state, in brief: the running ones that started first,
	// the waiting ones that are next, and the others that came last.
	Rows(perState int) []view.Trial
	// Events returns the events since the last call; none if they are not shown.
	Events() []view.Event
}
