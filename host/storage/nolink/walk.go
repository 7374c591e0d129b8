//go:build unix

package nolink

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// walk opens a path one element after the other.
func walk(path string, flags int, mode uint32) (int, error) {
	const folder = pathOnly | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	at, err := openat(unix.AT_FDCWD, "/", folder, 0)
	if err != nil {
		return -1, err
	}
	names := strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	for i, name := range names {
		how, m := folder, uint32(0)
		if i == len(names)-1 {
			how, m = flags|unix.O_NOFOLLOW, mode
		}
		if name == "" {
			name = "."
		}
		next, err := openat(at, name, how, m)
		_ = unix.Close(at)
		if err != nil {
			return -1, err
		}
		at = next
	}
	return at, nil
}

func openat(at int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(at, name, flags, mode)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
