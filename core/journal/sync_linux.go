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
