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

// look opens what is at a path.
func look(path string, flags int, mode uint32) (int, error) {
	if !kernelLooks() {
		return walk(path, flags, mode)
	}
	if flags&unix.O_CREAT == 0 {
		mode = 0 // else it is refused
	}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: uint64(flags), Mode: uint64(mode), Resolve: unix.RESOLVE_NO_SYMLINKS})
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return fd, err
		}
	}
}
