package runtimedir

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is mounted in the home of a dead process stays.
func TestMountInALeftHome(t *testing.T) {
	h, err := makeHome(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	precious, at := t.TempDir(), filepath.Join(h.path, "3", "m")
	file := filepath.Join(precious, "keep")
	if err := errors.Join(h.lock.Close(), os.WriteFile(file, nil, 0o600), os.MkdirAll(at, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(precious, at, "", syscall.MS_BIND, ""); err != nil {
		t.Skip("nothing can be mounted: ", err)
	}
	removeDead(h.path)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if err := syscall.Unmount(at, 0); err != nil {
		t.Fatal(err)
	}
	removeDead(h.path)
	if _, err := os.Stat(h.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the home is not removed later: %v", err)
	}
}
