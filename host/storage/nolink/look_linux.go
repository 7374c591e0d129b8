package nolink

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// pathOnly opens a folder that one may pass through but not list.
const pathOnly = unix.O_PATH

// kernelLooks says whether this kernel can refuse links as it looks a path up. Old ones
// cannot, and some containers do not let it.
var kernelLooks = sync.OnceValue(func() bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
})

// lookAgain is how often a path is looked up again of which something was renamed
// meanwhile, which the kernel reports as EAGAIN. More is somebody's doing, or another fault
// of the same name: whoever asked may wait and try again.
const lookAgain = 100

// look opens what is at a path.
func look(path string, flags int, mode uint32) (int, error) {
	if !kernelLooks() {
		return walk(path, flags, mode)
	}
	if flags&unix.O_CREAT == 0 {
		mode = 0 // else it is refused
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
