// Package plugin defines how the host sees plugins, wherever they run: the interfaces of authors, and
// a name for each way in which a plugin can fail.
//
// Subpackages start plugins: process (a program over go-plugin), inproc (a Go value in the host's
// process, for tests and simulation), bundled (the plugins in the tunehost binary, as processes).
// [SuperviseSearcher] and [SuperviseScheduler] restart crashed plugins. The host restarts reporters
// itself, because it knows which events they have not received.
package plugin

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// Plugin is a started plugin of one kind. One goroutine at a time may call its methods; any goroutine
// may call Close.
type Plugin interface {
	// Describe returns what the plugin says about itself.
	Describe(ctx context.Context) (sdk.Info, error)
	Opener
	ReporterOpener
	ExecutorOpener
	// Close ends the plugin and whatever it opened.
	Close() error
}

// Opener opens a plugin, once. An error of kind [Refused] is about the problem or the options: the
// user must change something. It is an error to open a plugin as another kind than it was started as.
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

// ExecutorOpener is [Opener] for executors.
type ExecutorOpener interface {
	// OpenExecutor opens an executor.
	OpenExecutor(ctx context.Context, x sdk.Execution, options []byte) (Executor, error)
}

// Instance has the common methods of opened searchers and schedulers.
type Instance interface {
	// Traits returns what it said when it was opened.
	Traits() sdk.Traits
	// Snapshots reports whether it can make snapshots.
	Snapshots() bool
	// Snapshot returns its state after the events observed so far.
	Snapshot(ctx context.Context) ([]byte, error)
	// Close ends it and its process.
	Close() error
}

// Searcher is an opened searcher. If a call's context ends before the answer, the plugin is ended:
// every later call fails.
type Searcher interface {
	sdk.Searcher
	Instance
}

// Scheduler is an opened scheduler; deadlines are as for [Searcher].
type Scheduler interface {
	sdk.Scheduler
	Instance
}

// Trainer is an opened trainable: it takes commands, and returns the events of all its runs. Send and
// Recv may be called at the same time, each by one goroutine.
type Trainer interface {
	// Traits returns what it said when it was opened.
	Traits() sdk.TrainableTraits
	// Send hands over commands without waiting for their effect.
	Send(commands []train.Command) error
	// Recv waits for events and returns all that are ready, in order; io.EOF after Close. Any other error
	// means that the process, and every run in it, has failed. The slice is valid until the next call.
	Recv() ([]train.Event, error)
	// Request asks what a trial with the parameters needs (Traits.Requests). It may be called at any time;
	// answers are as for sdk.Requester.
	Request(ctx context.Context, params []byte) ([]byte, error)
	// Kill ends the process and its group at once; Recv then returns an error. The trainer must still be
	// closed.
	Kill()
	// Close ends the contexts of the runs and the process.
	Close() error
}

// Reporter is an opened reporter; deadlines are as for [Searcher].
type Reporter interface {
	sdk.Reporter
	// After returns the number of the last event that the reporter says it has.
	After() uint64
	// Close ends it and its process.
	Close() error
}

// Executor is an opened executor; deadlines are as for [Searcher]. Recv may be called during another
// call.
type Executor interface {
	sdk.Executor
	// Traits returns what it said when it was opened.
	Traits() sdk.ExecutorTraits
	// Capacity returns what its cluster has (Traits.Capacity).
	Capacity(ctx context.Context) ([]sdk.ClusterNode, error)
	// Recv waits for lease events and returns all that are ready, in order; io.EOF after Close. Any other
	// error means that the process has failed.
	Recv() ([]sdk.LeaseEvent, error)
	// Close ends it and its process. It releases no lease.
	Close() error
}
