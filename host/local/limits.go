package local

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// leastOpen and leastProcesses are what a host with a few plugins and one trial at a time needs. With less it would
// stop in the middle, or wait for ever for what only its own trials could give back.
const (
	leastOpen      = 64
	leastProcesses = 64
	leastThreads   = 16 // of any command
)

// Limits returns an error if this process may have too few open files, or its user too few processes, for a host, or if
// the system lacks a device that each program needs.
func Limits() error {
	return cmp.Or(enough(softLimit(unix.RLIMIT_NOFILE), processes()), nullDevice(os.DevNull))
}

// nullDevice returns an error if there is no device at a path: what a host starts reads from it.
func nullDevice(path string) error {
	info, err := os.Stat(path)
	what := "is not a device"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		what = "does not exist"
	case err != nil:
		return nil // who opens it says why that fails
	case info.Mode()&fs.ModeCharDevice != 0:
		return nil
	}
	return fmt.Errorf("%[1]s %[2]s, and each program that a host starts needs it: mount /dev, or make it as root: "+
		"rm -f %[1]s; mknod -m 666 %[1]s c 1 3", path, what)
}

// Threads returns an error if this process may have too few threads for any command. The Go runtime would end it in
// the middle, with the stacks of its threads.
func Threads() error {
	if n := processes(); n < leastThreads {
		return tooFewProcesses(n)
	}
	return nil
}

// processes returns the limit of the user's processes and threads, which does not hold for root.
func processes() uint64 {
	if os.Geteuid() == 0 {
		return unlimited
	}
	return softLimit(unix.RLIMIT_NPROC)
}

const tooFew = "the limit of %[1]s is %[2]d (ulimit %[3]s), and a host needs %[4]d, and more for trials beside each " +
	"other; raise it: ulimit %[3]s 1024"

func tooFewProcesses(n uint64) error {
	return fmt.Errorf(tooFew, "processes and threads", n, "-u", leastProcesses)
}

func enough(open, processes uint64) error {
	switch {
	case open < leastOpen:
		return fmt.Errorf(tooFew, "open files", open, "-n", leastOpen)
	case processes < leastProcesses:
		return tooFewProcesses(processes)
	}
	return nil
}

const unlimited = ^uint64(0)

// softLimit returns a limit of this process; one that is unknown is none.
func softLimit(what int) uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(what, &l) != nil {
		return unlimited
	}
	return uint64(l.Cur)
}
