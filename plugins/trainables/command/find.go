package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// errNotFound has no more to say than the sentence around it.
var errNotFound = notFound{}

type notFound struct{}

func (notFound) Error() string        { return "there is no such program" }
func (notFound) Is(target error) bool { return target == fs.ErrNotExist }

// findProgram is the file that name stands for, looked for in path, the
// program's own PATH.
func findProgram(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, checkProgram(name)
	}
	var found error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // like os/exec: never a program that happens to be here
		}
		file := filepath.Join(dir, name)
		err := checkProgram(file)
		if err == nil {
			return file, nil
		}
		if found == nil && !errors.Is(err, fs.ErrNotExist) {
			found = err
		}
	}
	if found == nil {
		found = fmt.Errorf("%w beside the experiment file or in PATH", errNotFound)
	}
	return "", found
}

func checkProgram(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s: %w", file, syscall.EISDIR)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s: not executable: %w", file, syscall.EACCES)
	}
	return nil
}

// startError says what could not be started, why and what to do (B-074).
// Shortage of processes or memory passes; everything else is final.
func startError(args []string, err error) error {
	full := fmt.Errorf("cannot start %q (trainable.command): %w%s", args[0], err, advice(err))
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EMFILE) {
		return full
	}
	return &sdk.StartError{Err: full}
}

func advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return "; it is no program: put its interpreter first, as in [python3, train.py], or a #! line in it"
	case errors.Is(err, syscall.EACCES):
		return "; make it executable (chmod +x) or put its interpreter first, as in [python3, train.py]"
	case errors.Is(err, fs.ErrNotExist):
		return "; check the spelling, install it, or write its whole path"
	case errors.Is(err, syscall.E2BIG):
		return "; its arguments and environment are too long: read the parameters from {params}"
	case errors.Is(err, syscall.EINVAL):
		return "; an argument or variable holds a zero byte: read the parameters from {params}"
	}
	return ""
}
