package storage

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// fullDisk has room for everything but a manifest.
type fullDisk struct{ realDisk }

func (fullDisk) write(string, []byte) error { return syscall.ENOSPC }

// B-060: a model that did not fit on the disk is still there for the next try.
func TestExportOnAFullDisk(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	left := filepath.Join(NewExports(dir), "onnx")
	if err := errors.Join(os.MkdirAll(left, dirMode),
		os.WriteFile(filepath.Join(left, "model"), []byte("weights"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := d.commitExport(fullDisk{}, dir, "onnx", Manifest{}); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	if n, err := d.CommitExport(dir, "onnx", Manifest{}); n != int64(len("weights")) || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := CheckCheckpoint(ExportDir(dir, "onnx"), true); err != nil {
		t.Error(err)
	}
}

// A link in the place of the folder of a trial's models is refused before its program removes anything there.
func TestExportsBehindALink(t *testing.T) {
	t.Parallel()
	_, dir := trial(t)
	if err := CheckExports(dir); err != nil {
		t.Error(err)
	}
	link := filepath.Dir(NewExports(dir))
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	var refused *nolink.Error
	if err := CheckExports(dir); !errors.As(err, &refused) || refused.Path != link {
		t.Error(err)
	}
}
