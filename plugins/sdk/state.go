package sdk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// StateFile is the file of a checkpoint made by [ReportState].
const StateFile = "state"

// StateKeeper is implemented by Runs that store states without files: those of WASM modules.
// [ReportState] and [RestoredState] work with every Run.
type StateKeeper interface {
	// ReportState implements ReportState for this run.
	ReportState(r Result, state func() ([]byte, error)) error
	// RestoredState implements RestoredState for this run.
	RestoredState() ([]byte, error)
}

// ReportState is [Run.Report] for trainables whose state is a byte slice: state returns it when the
// host wants a checkpoint of exactly this result. It works in a process, where the bytes become the
// file [StateFile] of the checkpoint, and in a WASM module, which has no files and no other way to
// save.
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

// RestoredState returns the state to continue from, as passed to ReportState, or nil if the trial
// starts from the beginning. Errors have the type *[RestoreError].
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
