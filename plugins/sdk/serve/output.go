//go:build unix

package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// pluginLog is the process's own stderr while files of a trial replace it.
var pluginLog atomic.Pointer[os.File]

var keepLog = sync.OnceValue(func() error {
	fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		pluginLog.Store(os.NewFile(uintptr(fd), "log"))
	}
	return err
})

// printToFiles redirects output to the files of a trial that has the process to itself; back ends
// the redirection. A crash is also written to the log.
func printToFiles(t *sdk.Trial) (back func(), err error) {
	if t.Dir == "" {
		return func() {}, nil
	}
	files, err := openOutput(t)
	if err != nil {
		return nil, fmt.Errorf("cannot write the trial's log: %w", err)
	}
	if err := keepLog(); err != nil {
		return nil, err
	}
	log := pluginLog.Load()
	err = errors.Join(debug.SetCrashOutput(log, debug.CrashOptions{}), files[0].replace(1), files[1].replace(2))
	return func() {
		own := sink{file: log, fd: int(log.Fd())}
		_ = errors.Join(own.replace(1), own.replace(2), debug.SetCrashOutput(nil, debug.CrashOptions{}))
		setAside(files)
	}, err
}

// A sink is an open file that output goes to.
type sink struct {
	file *os.File
	fd   int
	path string
}

func (s sink) replace(fd int) error { return unix.Dup2(s.fd, fd) }

// spare are the empty files of the last trial, which the next one takes over: most trials print
// nothing, and creating two files is most of what a short trial costs. A process has one trial at a
// time that prints to files.
var spare []sink

// setAside keeps the files of a trial that has ended and printed nothing, and closes others.
func setAside(files [2]sink) {
	for _, f := range files {
		if f.path == "" || startedPrograms() { // a program that is left may still print
			_ = f.file.Close()
			continue
		}
		spare = append(spare, f)
	}
}

func openOutput(t *sdk.Trial) (files [2]sink, err error) {
	defer closeSpare()
	names := sdk.Logs{Stdout: "stdout", Stderr: "stderr"}
	if t.Logs != nil {
		names = *t.Logs
	}
	if files[0], err = openNamed(t.Dir, names.Stdout); err != nil {
		return files, err
	}
	if files[1], err = openNamed(t.Dir, names.Stderr); err != nil {
		_ = files[0].file.Close()
	}
	return files, err
}

// takeSpare moves a spare file to path. It returns nil if there is none.
func takeSpare(path string) *os.File {
	for i, f := range spare {
		if moveEmpty(f, path) {
			spare = slices.Delete(spare, i, i+1)
			return f.file
		}
	}
	return nil
}

func closeSpare() {
	for _, f := range spare {
		_ = f.file.Close()
	}
	spare = nil
}

// openNamed opens a file of the trial. Output without a file name is dropped.
func openNamed(dir, name string) (s sink, err error) {
	if name == "" {
		s.file, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	} else {
		s.path = filepath.Join(dir, name)
		if s.file = takeSpare(s.path); s.file == nil {
			s.file, err = openOwn(s.path)
		}
	}
	if err == nil {
		s.fd = int(s.file.Fd())
	}
	return s, err
}

// openOwn opens a file of the trial. It refuses anything but a regular file: a link could lead to
// any file of the user, and a pipe would block.
func openOwn(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	var s unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &s)
	if err == nil && (s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink > 1) {
		err = fmt.Errorf("%s is not a regular file, or has other links: move it away", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// logWriter writes to the original stderr.
type logWriter struct{ stderr *os.File }

func (w logWriter) Write(b []byte) (int, error) {
	if log := pluginLog.Load(); log != nil {
		return log.Write(b)
	}
	return w.stderr.Write(b)
}

// joinOutputs redirects stdout to stderr. The stdout that the host reads stays open.
func joinOutputs() error {
	_, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	return errors.Join(err, unix.Dup2(2, 1))
}
