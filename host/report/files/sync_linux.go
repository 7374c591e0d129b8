package files

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// syncAll syncs dir's whole file system, in one call for any number of files.
func syncAll(dir string) error {
	f, err := nolink.OpenDir(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
