package sdk

import (
	"context"
	"errors"
)

// Trainable trains.
//
// Train is called for each attempt of each trial, in a process that may have
// run other trials before (TrainableTraits.Reusable) or runs others at the
// same time (TrainableTraits.Shared). It returns nil when the training is
// complete, the error of [Run.Report] when that told it to stop, and any other
// error to fail the trial. Panics fail the trial.
type Trainable interface {
	Train(ctx context.Context, run Run) error
}

// TrainFunc is a Trainable that is one function.
type TrainFunc func(ctx context.Context, run Run) error

// Train calls f.
func (f TrainFunc) Train(ctx context.Context, run Run) error { return f(ctx, run) }

// ErrStopped is returned by [Run.Report] when the trial shall return now: it
// was stopped or paused. Pass it on.
var ErrStopped = errors.New("the trial was told to stop")

// Run is one attempt of one trial, as the trainable sees it.
type Run interface {
	// Trial says what to train.
	Trial() Trial
	// Report hands over one result and returns when it is recorded, so that it
	// survives a kill of the host with the checkpoint that it names, and the
	// trial may go on: nil, [ErrStopped],
	// or [ErrPaused] where the trial will go on later. The last result (Done)
	// is not waited for. After the word to stop a result does not count any
	// more, but its Checkpoint is taken.
	// save writes the training's state into the empty directory dir when
	// the host wants a checkpoint of just this result; nil when this
	// trainable cannot save.
	Report(r Result, save func(dir string) error) error
	// Log writes a line to the trial's log.
	Log(line string)
}

// Trial is what an attempt has to train.
type Trial struct {
	// ID is the trial's name in files; Number counts from 0.
	ID     string
	Number uint32
	// Attempt counts from 1.
	Attempt uint32
	// Experiment is the experiment's name.
	Experiment string
	// Params is the JSON object of the trial's parameters.
	Params []byte
	// Options is the JSON object of the trainable's options.
	Options []byte
	// Seed is the trial's randomness.
	Seed uint64
	// Dir is the trial's directory, which exists.
	Dir string
	// Restore is the directory of the checkpoint to go on from, or "": a copy
	// for this attempt alone, which goes with it.
	Restore string
	// Iteration is the iteration of that checkpoint, or 0.
	Iteration uint64
	// Resources is the JSON of what was granted: {"cpu": "1", …}; of a group,
	// the sum.
	Resources []byte
	// Devices are the ids of the GPUs granted, each once.
	Devices []string
	// Bundles are the places that were granted, in the order of the request:
	// one, but for a group (placement in the experiment file).
	Bundles []Bundle
	// CheckpointEvery: results at multiples of it will be saved (0: none).
	CheckpointEvery uint64
	// CheckpointAtEnd: the last result (Result.Done) will be saved.
	CheckpointAtEnd bool
	// RunAhead is how many results may be reported beyond those answered. The
	// host answers each once it is recorded, and says 0.
	RunAhead int
	// GraceSeconds is the time that a stopped trial has to clean up.
	GraceSeconds float64
	// Export are the formats in which the model is wanted when the trial ends
	// well, and ExportDir where they go: see [ExportWith].
	Export    []string
	ExportDir string
	// Logs are the files of Dir for what is printed; nil: stdout and stderr.
	Logs *Logs
}

// Logs are names of files in a trial's directory. What has no name is not kept.
type Logs struct{ Stdout, Stderr string }

// Bundle is one place that was granted: a part of one node.
type Bundle struct {
	// Node is the name of the node.
	Node string
	// Resources is the JSON of the place's amounts: {"cpu": "1", …}.
	Resources []byte
	// Devices are the ids of the node's GPUs that are granted here.
	Devices []string
}

// Result is one report.
type Result struct {
	// Metrics are flat: nested names are joined with "/".
	Metrics []Metric
	// Iteration is the trainable's own count, from 1; 0 lets the host count.
	Iteration uint64
	// Checkpoint is a directory that already holds this result's checkpoint
	// and may be moved, or "".
	Checkpoint string
	// Done: this is the last result.
	Done bool
	// Values is a JSON object of what is reported beside the metrics: texts, truths,
	// lists. They are kept in the trial's files, and nothing is decided by them. At
	// most MaxValues bytes; nil: nothing.
	Values []byte
}

// TrainableTraits are what an opened trainable says about itself.
type TrainableTraits struct {
	// Reusable: one process may run trial after trial.
	Reusable bool
	// Shared: one process may run many trials at a time.
	Shared bool
	// Saves: it can save when the host asks for it (see Run.Report).
	Saves bool
	// Requests: it is a [Requester]. The SDK sets it.
	Requests bool
}

// Launcher is implemented by trainables that train each trial in a process of its own.
// The trial has started once they say so ([Starter]), not when Train is called.
type Launcher interface {
	Trainable
	// LaunchesPrograms does nothing.
	LaunchesPrograms()
}

// Starter is implemented by the Runs of a [Launcher].
type Starter interface {
	// Started says which process trains the trial. The first call counts.
	Started(pid int)
}

// Waiter is implemented by the Runs of a [Launcher].
type Waiter interface {
	// Waiting says that the program cannot be started yet, for want of something of
	// the machine. It lifts the host's deadline for [Starter.Started], which is called
	// later.
	Waiting()
}

// Resetter is implemented by reusable trainables that have something to clean up
// between trials. Reset is called in a process that has run a trial, before it
// begins the next one. Where it returns an error, or takes longer than the host
// waits (30 s), that trial is given a fresh process, and does not fail for it.
type Resetter interface {
	Reset(ctx context.Context) error
}

// Requester is implemented by trainables that compute what a trial needs from
// its parameters. An experiment file that asks for resources beside it is an
// error.
type Requester interface {
	// Request returns what a trial with the parameters, a JSON object, asks
	// for, as the experiment file writes it, in JSON:
	// {"cpu": 2, "gpu": "0.5", "memory": "4GiB"}. It depends on params alone.
	// It may be called while trials train.
	Request(params []byte) (resources []byte, err error)
}

// TrainablePlugin is a trainable as it is served.
type TrainablePlugin struct {
	Info
	// Open checks the options and makes the trainable of this process.
	Open func(options []byte) (Trainable, TrainableTraits, error)
}
