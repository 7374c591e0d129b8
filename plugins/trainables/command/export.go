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

// exportsOf returns the folder in which a trial's program writes models. No format has this name.
func exportsOf(t *sdk.Trial) string { return filepath.Join(t.ExportDir, ".program") }

// prepareExports creates an empty folder for the program's models.
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

// export copies the program's files of the format.
func (a *attempt) export(format, dir string) error {
	if s := a.proc.status; a.endedByStop() {
		// It has cleaned up as intended.
	} else if s.Signaled() {
		return errors.New("the program was ended by " + signalName(s.Signal()) +
			", and what it has left may be half a model")
	} else if s.ExitStatus() != 0 {
		return fmt.Errorf("the program ended with exit status %d, and what it has left may be half a model",
			s.ExitStatus())
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

// endedByStop reports whether the program was stopped, handled the signal, and ended like a program
// that a signal ends: after the clean-up it exits with 143, or sends itself the signal again. A
// program that does not handle the signal was interrupted anywhere.
func (a *attempt) endedByStop() bool {
	s := a.proc.status
	if a.results.stopError() == nil || a.killed || a.overdue || !endedBy(s, syscall.SIGTERM) {
		return false
	}
	return s.Exited() || a.handles
}
