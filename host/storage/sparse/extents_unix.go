//go:build linux || darwin || freebsd

package sparse

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// blockBytes is the unit in which a file system says how much room a file takes.
const blockBytes = 512

// extents returns the parts of a file that have data, in order, and its size. It moves the place in the file.
func extents(f *os.File) (list []extent, size int64, err error) {
	whole, size, err := all(f)
	if err != nil || dense(f) {
		return whole, size, err
	}
	for at := int64(0); at < size; {
		from, err := f.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, syscall.ENXIO) {
			break // the rest is a hole
		}
		to := from
		if err == nil {
			to, err = f.Seek(from, unix.SEEK_HOLE)
		}
		if err != nil {
			list = whole // the file system does not say it
			break
		}
		if from = min(from, size); from < size {
			list = append(list, extent{from, min(to, size)})
		}
		at = to
	}
	return list, size, nil
}

// dense reports whether a file takes as much room as it has bytes, so that it has no holes.
func dense(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return true
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int64(s.Blocks)*blockBytes >= info.Size()
}
