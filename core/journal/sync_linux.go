package journal

import (
	"errors"
	"os"
	"syscall"
)

// syncData calls fdatasync, which skips the file's times and so saves one write to the file
// system's journal.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) { // interrupted before it started, so not a failure
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

// removed reports whether a file has no name any more.
func removed(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}
