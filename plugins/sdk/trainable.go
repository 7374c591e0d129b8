package sdk

import (
	"context"
	"errors"
)

// A Trainable trains.
//
// Train is called for each attempt of each trial, in a process that may have run other trials
// before (TrainableTraits.Reusable) or runs others concurrently (TrainableTraits.Shared). It
// returns nil when the training is complete, the error of [Run.Report] if the trial was told to
// stop, and any other error to fail the trial. Panics fail the trial.
type Trainable interface {
	Train(ctx context.Context, run Run) error
}

// TrainFunc is a Trainable that is one function.
type TrainFunc func(ctx context.Context, run Run) error

// Train calls f.
func (f TrainFunc) Train(ctx context.Context, run Run) error { return f(ctx, run) }

// ErrStopped is returned by [Run.Report] if the trial must return now, because it was stopped or
// paused. Train must return it.
var ErrStopped = errors.New("the trial was told to stop")

// A Run is one attempt of one trial, as the trainable sees it.
type Run interface {
	// Trial says what to train.
	Trial() Trial
	// Report sends one result. It returns when the result is recorded, so that it survives a kill
	// of the host together with its checkpoint, and the trial may continue. It returns nil,
	// [ErrStopped], [ErrPaused] if the trial will continue later, or [ErrKilled] if nobody has answered.
	// It does not wait for the last result (Done). After a stop, further results do not count, but
	// their checkpoints are stored.
	// save writes the state of the training to the empty directory dir when the host wants a
	// checkpoint of exactly this result; it is nil if this trainable cannot save. One that saves gives it
	// with each report: where a checkpoint is needed, a trial fails whose result has none.
	Report(r Result, save func(dir string) error) error
	// Log writes a line to the trial's log.
	Log(line string)
}

// A Trial is the input of an attempt.
type Trial struct {
	// ID is the trial's name in files; Number starts at 0.
	ID     string
	Number uint32
	// Attempt starts at 1.
	Attempt uint32
	// Experiment is the experiment's name.
	Experiment string
	// Params is a JSON object of the trial's parameters.
	Params []byte
	// Options is a JSON object of the trainable's options.
	Options []byte
	// Seed is the seed of the trial.
	Seed uint64
	// Dir is the trial's directory, which exists.
	Dir string
	// Restore is the directory of the checkpoint to continue from, or "". It is a copy for this
	// attempt and is removed with it.
	Restore string
	// Iteration is the iteration of that checkpoint, or 0.
	Iteration uint64
	// Resources is the granted resources as JSON: {"cpu": "1", …}; for a group, the sum.
	Resources []byte
	// Devices are the ids of the granted GPUs of the first bundle's node, each once.
	Devices []string
	// Bundles are the granted bundles, in the order of the request: one, or several for a group
	// (placement in the experiment file).
	Bundles []Bundle
	// CheckpointEvery: results at multiples of it will be saved (0: none).
	CheckpointEvery uint64
	// CheckpointAtEnd: the last result (Result.Done) will be saved.
	CheckpointAtEnd bool
	// RunAhead is how many results may be reported beyond those answered. The host sends 0 and
	// answers each result when it is recorded.
	RunAhead int
	// GraceSeconds is how long a stopped trial may clean up.
	GraceSeconds float64
	// Export are the formats of the model to write when the trial ends successfully, and ExportDir
	// is the target: see [ExportWith].
	Export    []string
	ExportDir string
	// Logs are the files in Dir for printed output; nil: stdout and stderr.
	Logs *Logs
}

// Logs are names of files in a trial's directory. Output without a name is dropped.
type Logs struct{ Stdout, Stderr string }

// A Bundle is a granted part of one node.
type Bundle struct {
	// Node is the name of the node.
	Node string
	// Resources is the JSON of the bundle's amounts: {"cpu": "1", …}.
	Resources []byte
	// Devices are the ids of the node's GPUs in this bundle.
	Devices []string
	// Address is a host name or IP address by which the other nodes of the trial reach this one;
	// "": all bundles are on this machine.
	Address string
}

// A Result is one report.
type Result struct {
	// Metrics are flat: nested names are joined with "/".
	Metrics []Metric
	// Iteration is the trainable's own count, from 1; 0 lets the host count.
	Iteration uint64
	// Checkpoint is a directory that already holds this result's checkpoint, or "". The host may
	// move it.
	Checkpoint string
	// Done: this is the last result.
	Done bool
	// Values is a JSON object of reported values that are not metrics: strings, booleans, lists.
	// They are stored in the trial's files and do not affect decisions. At most MaxValues bytes;
	// nil: none.
	Values []byte
}

// TrainableTraits are properties of an opened trainable.
type TrainableTraits struct {
	// Reusable: one process may run one trial after another.
	Reusable bool
	// Shared: one process may run many trials at a time.
	Shared bool
	// Saves: it can save when the host requests it (see Run.Report).
	Saves bool
	// Requests: it is a [Requester]. The SDK sets this.
	Requests bool
}

// Launcher is implemented by trainables that train each trial in a separate process. The trial has
// started when they call [Starter], not when Train is called.
type Launcher interface {
	Trainable
	// LaunchesPrograms does nothing.
	LaunchesPrograms()
}

// Starter is implemented by the Runs of a [Launcher].
type Starter interface {
	// Started reports the process that trains the trial. Only the first call counts.
	Started(pid int)
}

// Waiter is implemented by the Runs of a [Launcher].
type Waiter interface {
	// Waiting reports that the program cannot start yet, for lack of a resource of the machine. It
	// lifts the host's deadline for [Starter.Started], which is called later.
	Waiting()
}

// Resetter is implemented by reusable trainables that clean up between trials. Reset is called in a
// process that has run a trial, before the next one. If it returns an error, or takes longer than
// 30 s, the next trial gets a new process and does not fail.
type Resetter interface {
	Reset(ctx context.Context) error
}

// Requester is implemented by trainables that compute the resource request of a trial from its
// parameters. An experiment file that also requests resources is an error.
type Requester interface {
	// Request returns the resource request of a trial with the parameters, a JSON object, in the
	// form of the experiment file, in JSON: {"cpu": 2, "gpu": "0.5", "memory": "4GiB"}. It must
	// depend only on params. It may be called while trials train.
	Request(params []byte) (resources []byte, err error)
}

// TrainablePlugin describes a trainable to be served.
type TrainablePlugin struct {
	Info
	// Open checks the options and returns the trainable of this process.
	Open func(options []byte) (Trainable, TrainableTraits, error)
	// Check, if it is set, says before any trial whether one with these parameters, a JSON object, could train. Only
	// bundled trainables are asked, by `tunehost validate`.
	Check func(options, params []byte) error
}
