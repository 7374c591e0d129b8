package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// ownSpace is the address space that a runner may take beyond what it has at its
	// start and the module's memory: the compiler, tables, a native stack of up to
	// 600 MB while it grows, and two messages.
	ownSpace = 2 << 30
	maxFiles = 128
)

// confine gives up what a runner does not need, for good. Modules have no way to use
// it; this is for mistakes in the compiler that they are compiled by. It does what it
// can.
func confine(memory uint64) error {
	limit := func(what int, n uint64) error { return unix.Setrlimit(what, &unix.Rlimit{Cur: n, Max: n}) }
	_ = limit(unix.RLIMIT_CORE, 0)
	_ = limit(unix.RLIMIT_NOFILE, maxFiles)
	// Programs that it might start could not gain rights. Where the program uses C,
	// this cannot be said for all threads at once.
	_, _, _ = syscall.AllThreadsSyscall(syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0)
	has, err := addressSpace()
	if err != nil {
		return err
	}
	return limit(unix.RLIMIT_AS, has+memory+ownSpace)
}

// addressSpace is what the process has now, in bytes.
func addressSpace() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(text, []byte(" "))
	pages, err := strconv.ParseUint(string(first), 10, 64)
	return pages * uint64(os.Getpagesize()), err
}
