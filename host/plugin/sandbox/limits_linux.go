package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// ownSpace is the address space that a runner may take beyond what it has at its start and the
	// module's memory: for the compiler, tables, a native stack of up to 600 MB while it grows, and two
	// messages.
	ownSpace = 2 << 30
	// ownData is how much of that may be writable, beyond the compiler's memory: the compiler and the
	// stack do not exist at the same time.
	ownData  = 512 << 20
	maxFiles = 128
)

// confine sets the limits of a runner for good. Modules cannot reach these limits; they contain bugs
// of the compiler. It sets as many limits as the system allows.
func confine(memory, compiling uint64) error {
	limit := func(what int, n uint64) error { return unix.Setrlimit(what, &unix.Rlimit{Cur: n, Max: n}) }
	_ = limit(unix.RLIMIT_CORE, 0)
	_ = limit(unix.RLIMIT_NOFILE, maxFiles)
	// Programs that it might start could not gain rights. If the program uses C, this cannot be set for
	// all threads at once.
	_, _, _ = syscall.AllThreadsSyscall(syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0)
	space, data, err := taken()
	if err != nil {
		return err
	}
	return errors.Join(limit(unix.RLIMIT_DATA, data+memory+compiling+ownData),
		limit(unix.RLIMIT_AS, space+memory+compiling+ownSpace))
}

// taken returns the address space of the process and the size of its data, in bytes.
func taken() (space, data uint64, err error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0, err
	}
	var other int
	_, err = fmt.Sscan(string(text), &space, &other, &other, &other, &other, &data)
	page := uint64(os.Getpagesize())
	return space * page, data * page, err
}
