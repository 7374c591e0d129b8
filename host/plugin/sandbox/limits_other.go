//go:build unix && !linux

package sandbox

import "golang.org/x/sys/unix"

// maxFiles is how many files a runner may have open.
const maxFiles = 128

// confine gives up what a runner does not need, for good. Address space cannot be
// limited everywhere; memory of modules is.
func confine(_, _ uint64) error {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: maxFiles, Max: maxFiles})
	return nil
}
