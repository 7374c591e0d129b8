package command

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// B-087: a program that fails on a full disk cannot say why: its stderr is there, too. The user is told.
func TestFailureOnAFullDisk(t *testing.T) {
	disk := mounted(t, "size=1m")
	run := newRun(t)
	run.trial.Dir = filepath.Join(disk, "00017")
	if err := os.Mkdir(run.trial.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := openTest(t, opts{"command": []string{"sh", "-c", "cat /dev/zero > ballast; exit 1"}, "cwd": run.trial.Dir})
	if err := p.Train(t.Context(), run); err == nil {
		t.Error("the trial did not fail")
	}
	if text := run.hinted(); !strings.Contains(text, "there is no space left on the disk of the experiment (no space "+
		"left on device)") {
		t.Errorf("%q", text)
	}
	left, err := filepath.Glob(filepath.Join(run.trial.Dir, ".*"))
	if err != nil || len(left) > 1 { // .checkpoints
		t.Errorf("%q, %v", left, err)
	}
}

// B-087: a trial waits while its disk has no inode for its files.
func TestNoInodes(t *testing.T) {
	disk := mounted(t, "size=16m,nr_inodes=4")
	run := newRun(t)
	run.trial.Dir = filepath.Join(disk, "00017")
	ballast := filepath.Join(disk, "ballast")
	if err := os.Mkdir(run.trial.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ballast, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := openTest(t, opts{"command": []string{"sh", "-c", "echo '{{\"accuracy\": 1}}'"},
		"log": map[string]any{"stdout": "", "stderr": ""}})
	ended := make(chan error)
	go func() { ended <- p.Train(t.Context(), run) }()
	eventually(t, "it says that it waits", func() bool { return run.hinted() != "" })
	if text := run.hinted(); !strings.Contains(text, "no space left on device") || !strings.Contains(text, "inode") {
		t.Error(text)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || len(run.values("accuracy")) != 1 {
		t.Errorf("%v, %v", err, run.values("accuracy"))
	}
}

// mounted returns a small disk.
func mounted(t *testing.T, options string) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, options); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	return disk
}
