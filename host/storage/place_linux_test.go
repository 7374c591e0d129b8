package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// The error names the directory of another user that blocks the path to an experiment. The test uses
// up its thread, which acts as another user.
func TestOtherUsersStorage(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "results")
	for _, open := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(closed, "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 { // any user can close a directory to himself
		if err := os.Chmod(closed, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	}
	said := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if os.Getuid() == 0 {
			_ = unix.Setfsuid(65534)
		}
		_, err := At(filepath.Join(closed, "b"))
		said <- err
	}()
	isPlace(t, <-said, fmt.Sprintf("permission denied (the mode of %s is ", closed))
}
