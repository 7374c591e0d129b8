package upload

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// How long, and how often, awaitWriters looks.
const (
	writersWithin = 5 * time.Second
	writersEvery  = time.Millisecond
)

// awaitWriters waits until no process has a file open for writing that this one has closed: nobody can run it before
// (ETXTBSY). A process that is being started holds all that this process has open until it runs its own program. The
// kernel grants a lease for reading only if there are no writers; a file system without leases is not waited for.
func awaitWriters(root *os.Root, name string) {
	f, err := plainfile.In(root, name, os.O_RDONLY)
	if err != nil {
		return
	}
	defer f.Close()
	for end := time.Now().Add(writersWithin); time.Now().Before(end); time.Sleep(writersEvery) {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); !errors.Is(err, unix.EAGAIN) {
			_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
			return
		}
	}
}
