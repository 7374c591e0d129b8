package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// exportsOf is where a trial's program leaves models. No format has this name.
func exportsOf(t *sdk.Trial) string { return filepath.Join(t.ExportDir, ".program") }

// prepareExports makes an empty folder for the program's models.
func (a *attempt) prepareExports() (dir string, err error) {
	if len(a.trial.Export) == 0 {
		return "", nil
	}
	dir = exportsOf(&a.trial)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return "", fmt.Errorf("cannot make the folder of exports: %w", err)
	}
	sdk.ExportWith(a.run, a.export)
	return dir, nil
}

// export hands over what the program has left under the format's name.
func (a *attempt) export(format, dir string) error {
	if s := a.proc.status; a.endedByStop() {
		// It has cleaned up as it meant to.
	} else if s.Signaled() {
		return errors.New("the program was ended by " + signalName(s.Signal()) + ", and what it has left may be half a model")
	} else if s.ExitStatus() != 0 {
		return fmt.Errorf("the program ended with exit status %d, and what it has left may be half a model", s.ExitStatus())
	}
	left := filepath.Join(exportsOf(&a.trial), format)
	info, err := os.Lstat(left)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the program left no %s in TUNEHOST_EXPORT_DIR", format)
	case err != nil:
		return err
	case info.IsDir():
		return errors.Join(os.Remove(dir), os.Rename(left, dir))
	}
	return os.Rename(left, filepath.Join(dir, format))
}

// endedByStop says whether the program was stopped, took note of the signal and ended as programs
// do that a signal ends: once it has cleaned up it exits with 143, or sends itself the signal
// again. One that handles no signal was cut off wherever it was.
func (a *attempt) endedByStop() bool {
	s := a.proc.status
	if a.results.stopError() == nil || a.killed || a.overdue || !endedBy(s, syscall.SIGTERM) {
		return false
	}
	return s.Exited() || a.handles
}
