package torture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// onSmallDisk puts the results on a small, separate file system.
func (x *experiment) onSmallDisk(t testing.TB) {
	t.Helper()
	options := fmt.Sprintf("size=8m,mode=700,uid=%d,gid=%d", hostUser(), hostUser())
	if err := syscall.Mount("tmpfs", x.disk(), "tmpfs", 0, options); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	x.small = true
}

func (x *experiment) disk() string { return filepath.Join(x.root, "results") }

func (x *experiment) unmount(t testing.TB) {
	if !x.small {
		return
	}
	if err := syscall.Unmount(x.disk(), syscall.MNT_DETACH); err != nil {
		t.Error(err)
	}
	x.small = false
}

// fill uses all space except some pages.
func (x *experiment) fill(t testing.TB, pages int) (ballast string) {
	t.Helper()
	ballast = filepath.Join(x.disk(), "ballast")
	f, err := os.Create(ballast)
	must(t, err)
	defer f.Close()
	var size int64
	for chunk := 1 << 16; chunk >= 1<<12; chunk >>= 1 {
		for {
			n, err := f.Write(make([]byte, chunk))
			size += int64(n)
			if errors.Is(err, syscall.ENOSPC) {
				break
			}
			must(t, err)
		}
	}
	must(t, f.Truncate(max(size-int64(pages)<<12, 0)))
	return ballast
}

// mountable reports whether a small disk can be mounted.
func mountable() bool {
	dir, err := os.MkdirTemp("", "thtort")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k") != nil {
		return false
	}
	return syscall.Unmount(dir, 0) == nil
}
