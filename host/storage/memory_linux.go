package storage

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const memoryRoot = "/dev/shm"

// memoryLeft returns the free share of a memory file system.
func memoryLeft(path string) (float64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	if s.Type != unix.TMPFS_MAGIC || s.Blocks == 0 {
		return 0, fmt.Errorf("%s is not in memory", path)
	}
	return float64(s.Bavail) / float64(s.Blocks), nil
}
