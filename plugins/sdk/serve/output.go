//go:build unix

package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// pluginLog is the process's own stderr, once trials' files take its place.
var pluginLog atomic.Pointer[os.File]

var keepLog = sync.OnceValue(func() error {
	fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		pluginLog.Store(os.NewFile(uintptr(fd), "log"))
	}
	return err
})

// printToFiles sends what is printed to the files of a trial, which has
// the process to itself; back ends that. A crash is told in the log, too.
func printToFiles(t *sdk.Trial) (back func(), err error) {
	if t.Dir == "" {
		return func() {}, nil
	}
	files, err := openOutput(t)
	if err != nil {
		return nil, fmt.Errorf("cannot write the trial's log: %w", err)
	}
	defer files[0].Close()
	defer files[1].Close()
	if err := keepLog(); err != nil {
		return nil, err
	}
	log := pluginLog.Load()
	err = errors.Join(debug.SetCrashOutput(log, debug.CrashOptions{}), replace(files[0], 1), replace(files[1], 2))
	return func() {
		_ = errors.Join(replace(log, 1), replace(log, 2), debug.SetCrashOutput(nil, debug.CrashOptions{}))
	}, err
}

func replace(f *os.File, fd int) error { return unix.Dup2(int(f.Fd()), fd) }

func openOutput(t *sdk.Trial) (files [2]*os.File, err error) {
	names := sdk.Logs{Stdout: "stdout", Stderr: "stderr"}
	if t.Logs != nil {
		names = *t.Logs
	}
	if files[0], err = openNamed(t.Dir, names.Stdout); err != nil {
		return files, err
	}
	if files[1], err = openNamed(t.Dir, names.Stderr); err != nil {
		_ = files[0].Close()
	}
	return files, err
}

// openNamed opens a file of the trial's. What has no name is not kept.
func openNamed(dir, name string) (*os.File, error) {
	if name == "" {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	return openOwn(filepath.Join(dir, name))
}

// openOwn opens a file of the trial's. What is in its place and is no plain file is
// refused: a link could lead to any file of the user's, a pipe would be waited for.
func openOwn(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	var s unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &s)
	if err == nil && (s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink > 1) {
		err = fmt.Errorf("%s is not a plain file of its own: move it away", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// logWriter is stderr, or what that was before trials' files took its place.
type logWriter struct{ stderr *os.File }

func (w logWriter) Write(b []byte) (int, error) {
	if log := pluginLog.Load(); log != nil {
		return log.Write(b)
	}
	return w.stderr.Write(b)
}

// joinOutputs makes what is printed to stdout go to stderr. Stdout as the host reads it
// stays open.
func joinOutputs() error {
	_, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	return errors.Join(err, unix.Dup2(2, 1))
}
