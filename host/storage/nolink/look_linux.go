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
	return openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: uint64(flags), Mode: uint64(mode),
		Resolve: unix.RESOLVE_NO_SYMLINKS})
}

// openHere opens what lies in a folder. It fails with EXDEV if a mount point is on the way, also one of the same file
// system.
func openHere(at int, name string, flags int) (int, error) {
	if !kernelLooks() {
		return openUnlessOther(at, name, flags)
	}
	return openat2(at, name, &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV | unix.RESOLVE_BENEATH})
}

func openat2(at int, path string, how *unix.OpenHow) (int, error) {
	for tries := 0; ; {
		fd, err := unix.Openat2(at, path, how)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN) && tries < lookAgain:
			tries++
		default:
			return fd, err
		}
	}
}

// mountOf asks the kernel, which says the mount since Linux 5.8.
func mountOf(fd int) (mount, error) {
	m, err := deviceOf(fd)
	var s unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &s) == nil && s.Mask&unix.STATX_MNT_ID != 0 {
		m.id = s.Mnt_id
	}
	return m, err
}
