package nolink

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// pathOnly opens a folder that the user may enter but not list.
const pathOnly = unix.O_PATH

// kernelLooks reports whether the kernel can refuse links while it resolves a path. Old kernels
// cannot, and some containers forbid it.
var kernelLooks = sync.OnceValue(func() bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
})

// lookAgain limits the tries to resolve a path that is being renamed, which the kernel reports as
// EAGAIN. More tries would not help: the caller may wait and try again.
const lookAgain = 100

// look opens a path.
func look(path string, flags int, mode uint32) (int, error) {
	if !kernelLooks() {
		return walk(path, flags, mode)
	}
	if flags&unix.O_CREAT == 0 {
		mode = 0 // the kernel refuses a mode without O_CREAT
	}
	how := &unix.OpenHow{Flags: uint64(flags), Mode: uint64(mode), Resolve: unix.RESOLVE_NO_SYMLINKS}
	for tries := 0; ; {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, how)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN) && tries < lookAgain:
			tries++
		default:
			return fd, err
		}
	}
}
