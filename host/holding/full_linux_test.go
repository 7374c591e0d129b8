package holding

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage"
)

// A host that cannot take a directory because its disk is full says what to do.
func TestTakenOnAFullDisk(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=1m,nr_inodes=2"); err != nil {
		t.Skip("a small disk cannot be mounted: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(root, syscall.MNT_DETACH) })
	dir, err := storage.At(filepath.Join(root, "e"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Take(dir, nil, &options.Options{Clock: clock.System{}})
	if err == nil || !strings.Contains(err.Error(), "; free some space on the disk") {
		t.Error(err)
	}
}
