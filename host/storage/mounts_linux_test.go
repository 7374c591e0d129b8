package storage

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// precious is a folder of a trial with a mounted disk inside, that has a file.
func precious(t *testing.T, folder string) (file string) {
	t.Helper()
	disk := filepath.Join(folder, "data")
	if err := os.MkdirAll(disk, dirMode); err != nil {
		t.Fatal(err)
	}
	mount(t, disk, "size=1m")
	file = filepath.Join(disk, "precious")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A checkpoint with a mount point inside is refused where it would be moved, and what is mounted stays. One that is
// copied has what is mounted.
func TestMountInACheckpoint(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	for _, from := range []string{filepath.Join(dir, "made"), filepath.Join(OwnCheckpoints(dir), "made")} {
		file := precious(t, from)
		err := Take(dir, 1, from)
		if err == nil || !strings.Contains(err.Error(), filepath.Dir(file)+" is a mount point: ") {
			t.Error(err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	from := filepath.Join(t.TempDir(), "made")
	precious(t, from)
	if err := Take(dir, 1, from); err != nil {
		t.Error(err)
	}
	if _, err := d.Commit(dir, 1, Manifest{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(CheckpointFiles(dir, 1), "data", "precious")); err != nil {
		t.Error(err)
	}
}

// What was mounted in a checkpoint later stays when the checkpoint is removed.
func TestMountInARemovedCheckpoint(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": []byte("weights")})
	if _, err := d.Commit(dir, 1, Manifest{}); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(CheckpointFiles(dir, 1), "data")
	precious(t, CheckpointFiles(dir, 1))
	if err := d.RemoveCheckpoint(dir, 1); err == nil || !strings.Contains(err.Error(), "is a mount point: ") {
		t.Error(err)
	}
	at = strings.Replace(at, "000001", "000001.old", 1)
	if _, err := os.Stat(filepath.Join(at, "precious")); err != nil {
		t.Error(err)
	}
	if err := syscall.Unmount(at, 0); err != nil {
		t.Error(err)
	}
}

// A model with a mount point inside is refused, and so is the next attempt, whose program would empty the folder.
func TestMountInAModel(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	file := precious(t, filepath.Join(NewExports(dir), "onnx"))
	if _, err := d.CommitExport(dir, "onnx", Manifest{}); err == nil ||
		!strings.Contains(err.Error(), "a mount point") {
		t.Error(err)
	}
	if err := CheckExports(dir); err == nil || !strings.Contains(err.Error(), "a mount point") {
		t.Error(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
