package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// startError says what could not start, why and what to do (B-074). A lack of processes or memory
// is temporary, and the end of a warm interpreter a failure like any other; everything else is final.
func startError(args []string, err error) error {
	full := argv.CannotStart(args[0], err)
	if _, ended := errors.AsType[*endedError](err); ended || lacking(err) {
		return full
	}
	return &sdk.StartError{Err: full}
}

// workingDir returns the program's working directory: the trial's directory, or the one in the
// experiment file.
func (p *program) workingDir(trial string) (string, error) {
	if p.o.CWD == "" {
		return trial, nil
	}
	dir := p.o.CWD
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.o.BaseDir, dir)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("trainable.cwd: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("trainable.cwd: %s is not a directory; "+
			"name one that is there, relative to the experiment file", dir)
	}
	return dir, nil
}
