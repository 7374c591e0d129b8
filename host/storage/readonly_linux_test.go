package storage

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// A file system that cannot be written to is found out although the permissions allow it, and nothing is left there.
func TestReadOnlyFileSystem(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	d, err := At(disk)
	if err := errors.Join(err, d.Writable(), readOnly(disk)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if err := readOnly(disk); !errors.Is(err, syscall.EROFS) {
		t.Error(err)
	}
	if err := d.Writable(); err == nil || !strings.Contains(err.Error(), "read-only file system") {
		t.Error(err)
	}
}
