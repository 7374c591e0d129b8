package serve

import (
	"errors"

	"golang.org/x/sys/unix"
)

// moveEmpty renames the file if nothing was written to it and it is where it was. It does not replace
// a file.
func moveEmpty(s sink, path string) bool {
	var open, there unix.Stat_t
	if unix.Fstat(s.fd, &open) != nil || unix.Lstat(s.path, &there) != nil {
		return false
	}
	if open.Size > 0 || open.Nlink != 1 || open.Ino != there.Ino || open.Dev != there.Dev {
		return false
	}
	return unix.Renameat2(unix.AT_FDCWD, s.path, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE) == nil
}

// startedPrograms reports whether this process has, or had, children, which may have its files open.
func startedPrograms() bool {
	var ended unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &ended) != nil || ended.Maxrss > 0 {
		return true
	}
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return !errors.Is(err, unix.ECHILD)
}
