//go:build unix && !linux

package sandbox

import "golang.org/x/sys/unix"

// maxFiles is how many files a runner may have open.
const maxFiles = 128

// confine sets the limits of a runner for good. Not every system can limit address space; the memory
// of modules is always limited.
func confine(_, _ uint64) error {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: maxFiles, Max: maxFiles})
	return nil
}
