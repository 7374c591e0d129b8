package nolink

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// outside is a folder with a file, which is mounted at a path: on the same file system.
func outside(t *testing.T, at string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(dir, at, "", unix.MS_BIND, ""); err != nil {
		t.Skip("nothing can be mounted: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	return dir
}

// opener replaces the kernel's look by the one of old kernels, if that is what is tested.
func opener(t *testing.T, old bool) {
	t.Helper()
	was := kernelLooks
	kernelLooks = func() bool { return !old && was() }
	t.Cleanup(func() { kernelLooks = was })
}

// Nothing is removed behind a mount point, also one of the same file system, and all else is.
func TestRemovalStaysOutOfMounts(t *testing.T) {
	for _, old := range []bool{false, true} {
		for what, remove := range map[string]func(string) error{"all": RemoveAll, "tree": RemoveTree} {
			opener(t, old)
			dir := filepath.Join(t.TempDir(), "x")
			at := filepath.Join(dir, "a", "mounted")
			precious := outside(t, at)
			err := errors.Join(os.MkdirAll(filepath.Join(dir, "b", "c"), 0o700),
				os.WriteFile(filepath.Join(dir, "a", "own"), nil, 0o600))
			if err != nil {
				t.Fatal(err)
			}
			err = remove(dir)
			if err == nil || !strings.Contains(err.Error(), at+" is a mount point: ") {
				t.Errorf("%s, %v: %v", what, old, err)
			}
			if text, err := os.ReadFile(filepath.Join(precious, "precious")); string(text) != "text" {
				t.Errorf("%s, %v: %q %v", what, old, text, err)
			}
			left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
			if err != nil || len(left) != 1 || left[0] != at {
				t.Errorf("%s, %v: %v %v", what, old, left, err)
			}
			if err := unix.Unmount(at, 0); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(dir); remove(dir) != nil || err != nil {
				t.Errorf("%s, %v: not removed after it was unmounted: %v", what, old, err)
			}
		}
	}
}

// A mount point is found at the top, below it, and where a file is.
func TestMountsAreFound(t *testing.T) {
	for _, old := range []bool{false, true} {
		opener(t, old)
		dir := filepath.Join(t.TempDir(), "x")
		at := filepath.Join(dir, "a", "mounted")
		precious := filepath.Join(outside(t, at), "precious")
		for _, top := range []string{at, dir} {
			if err := NoMounts(top); err == nil || !strings.HasPrefix(err.Error(), at+" is a mount point: ") {
				t.Errorf("%v, %s: %v", old, top, err)
			}
		}
		if err := unix.Unmount(at, 0); err != nil || NoMounts(dir) != nil {
			t.Errorf("%v: %v, %v", old, err, NoMounts(dir))
		}
		file := filepath.Join(at, "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil || NoMounts(dir) != nil {
			t.Errorf("%v: %v, %v", old, err, NoMounts(dir))
		}
		if err := unix.Mount(precious, file, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		if err := NoMounts(dir); err == nil || !strings.HasPrefix(err.Error(), file+" is a mount point: ") {
			t.Errorf("%v: %v", old, err)
		}
		if err := unix.Unmount(file, 0); err != nil {
			t.Error(err)
		}
	}
}
