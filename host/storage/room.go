package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// reserve is how much room the disk must have for a request that is recorded, in bytes: more than one request takes.
const reserve = 4 << 20

// FullError says that a disk is full.
type FullError struct{ dir string }

func (e *FullError) Error() string {
	return fmt.Sprintf("%s: the disk is full (less than %d MiB are free): nothing can be recorded until there is "+
		"room; free some space, and the same request works", e.dir, reserve>>20)
}

// Unwrap is the error of the system.
func (e *FullError) Unwrap() error { return syscall.ENOSPC }

// Room is an error if the disk of a directory, which need not exist yet, is full. A host waits for room, for as long
// as it takes, so that a client who waits for an answer is told before.
func Room(dir string) error {
	var at syscall.Statfs_t
	err := syscall.Statfs(dir, &at)
	for err == syscall.ENOENT && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		err = syscall.Statfs(dir, &at)
	}
	free := at.Bavail
	if os.Geteuid() == 0 {
		free = at.Bfree
	}
	if err != nil || at.Blocks == 0 || free >= reserve/uint64(at.Bsize) {
		return nil // what cannot be known is found out by the request
	}
	return &FullError{dir}
}
