package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A directory of another user's is named where the way to an experiment ends at it. The
// test gives its thread away, which looks at files as another user.
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
	if os.Getuid() != 0 { // who is not root can close it to himself
		if err := os.Chmod(closed, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	}
	said := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if os.Getuid() == 0 {
			_ = unix.Setfsuid(65534)
		}
		_, err := At(filepath.Join(closed, "b"))
		said <- err
	}()
	isPlace(t, <-said, fmt.Sprintf("permission denied (the mode of %s is ", closed))
}
