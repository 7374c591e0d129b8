package journal

import (
	"errors"
	"os"
	"syscall"
)

// syncData is fdatasync: it leaves out the times of the file, and so one write of the file system's own journal.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) { // not a failure: it has not been tried
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

// removed says that a file has no name any more.
func removed(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}
