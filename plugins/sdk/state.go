package sdk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// StateFile is the file of a checkpoint that [ReportState] makes.
const StateFile = "state"

// StateKeeper is implemented by Runs that keep states without files: those of WASM
// modules. [ReportState] and [RestoredState] work with every Run.
type StateKeeper interface {
	// ReportState is ReportState of this run.
	ReportState(r Result, state func() ([]byte, error)) error
	// RestoredState is RestoredState of this run.
	RestoredState() ([]byte, error)
}

// ReportState is [Run.Report] for trainables whose state is one piece of bytes: state
// returns it when the host wants a checkpoint of just this result. It works in a
// process, where the bytes become the file [StateFile] of the checkpoint, and in a
// WASM module, which has no files and saves in no other way.
func ReportState(run Run, r Result, state func() ([]byte, error)) error {
	if k, ok := run.(StateKeeper); ok {
		return k.ReportState(r, state)
	}
	return run.Report(r, func(dir string) error {
		b, err := state()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, StateFile), b, 0o600)
	})
}

// RestoredState returns the state to go on from, as ReportState was given it, or nil
// when the trial starts from the beginning. Errors are of type *[RestoreError].
func RestoredState(run Run) ([]byte, error) {
	if k, ok := run.(StateKeeper); ok {
		return k.RestoredState()
	}
	dir := run.Trial().Restore
	if dir == "" {
		return nil, nil
	}
	b, err := os.ReadFile(filepath.Join(dir, StateFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it has no file " + StateFile + ": it was made by another version of the trainable")
	}
	if err != nil {
		return nil, &RestoreError{Err: err}
	}
	return b, nil
}
