// Package plugin is how the host sees plugins, wherever they run: the author's
// own interfaces, and a name for each way in which a plugin can fail.
//
// Subpackages start them: process (a program over go-plugin), inproc (a Go
// value in the host's process, for tests and simulation), bundled (the plugins
// in the tunehost binary, as processes). [SuperviseSearcher] and
// [SuperviseScheduler] restart what crashes; who restarts a reporter also has to
// know what it has not been told, which is the host.
package plugin

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// Plugin is a plugin that was started, of one kind. Its methods may be called
// by one goroutine at a time; Close by any.
type Plugin interface {
	// Describe says what it is.
	Describe(ctx context.Context) (sdk.Info, error)
	Opener
	ReporterOpener
	// Close ends it, and whatever it opened.
	Close() error
}

// Opener opens a plugin, once. An error of kind [Refused] is the plugin's own
// word on the problem or the options: the user must change something. Opening
// a plugin as another kind than it was started as is an error.
type Opener interface {
	// OpenSearcher opens a searcher, from a snapshot if that is not empty.
	OpenSearcher(ctx context.Context, problem sdk.Problem, options, snapshot []byte) (Searcher, error)
	// OpenScheduler opens a scheduler, from a snapshot if that is not empty.
	OpenScheduler(ctx context.Context, problem sdk.Problem, options, snapshot []byte) (Scheduler, error)
	// OpenTrainable opens a trainable.
	OpenTrainable(ctx context.Context, options []byte) (Trainer, error)
}

// ReporterOpener is [Opener] for reporters.
type ReporterOpener interface {
	// OpenReporter opens a reporter.
	OpenReporter(ctx context.Context, e sdk.Experiment, options []byte) (Reporter, error)
}

// Instance is what opened searchers and schedulers have in common.
type Instance interface {
	// Traits are what it said when it was opened.
	Traits() sdk.Traits
	// Snapshots reports whether Snapshot can be asked for.
	Snapshots() bool
	// Snapshot returns its state after the events observed so far.
	Snapshot(ctx context.Context) ([]byte, error)
	// Close ends it and its process.
	Close() error
}

// Searcher is an opened searcher. A call whose context ends before the answer
// ends the plugin: every later call fails.
type Searcher interface {
	sdk.Searcher
	Instance
}

// Scheduler is an opened scheduler; deadlines as with [Searcher].
type Scheduler interface {
	sdk.Scheduler
	Instance
}

// Trainer is an opened trainable: commands go in, events of all its runs come
// out. Send and Recv may be called at the same time, each by one goroutine.
type Trainer interface {
	// Traits are what it said when it was opened.
	Traits() sdk.TrainableTraits
	// Send hands over commands without waiting for their effect.
	Send(commands []train.Command) error
	// Recv waits for events and returns all that wait, in order; io.EOF
	// after Close. Any other error means that the process has failed, and
	// every run in it. The slice is valid until the next call.
	Recv() ([]train.Event, error)
	// Request asks what a trial with the parameters needs (Traits.Requests).
	// It may be called at any time; answers are as sdk.Requester's.
	Request(ctx context.Context, params []byte) ([]byte, error)
	// Kill ends the process at once, with whatever is in its group; Recv says
	// so. The trainer is still to be closed.
	Kill()
	// Close ends the runs' contexts and the process.
	Close() error
}

// Reporter is an opened reporter; deadlines as with [Searcher].
type Reporter interface {
	sdk.Reporter
	// After is the number of the last event that it said it has.
	After() uint64
	// Close ends it and its process.
	Close() error
}
