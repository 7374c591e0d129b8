package storage

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// readOnly returns an error if the file system of a directory refuses to write, such as after an error of the disk,
// which the permissions do not show. It tries it with a file that has no name.
func readOnly(dir string) error {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, fileMode)
	if err == nil {
		return unix.Close(fd)
	}
	if errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}
