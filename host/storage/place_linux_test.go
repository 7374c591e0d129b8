package storage

import (
	"errors"
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

// An experiment is not put where a link leads that another user has planted, or in what such a link names.
func TestPlantedLink(t *testing.T) {
	if os.Getuid() != 0 {
		return // only root can make links of others: ownership.TestCheckPath has the rest
	}
	open, victim := t.TempDir(), t.TempDir()
	link := filepath.Join(open, "l")
	if err := errors.Join(os.Chmod(open, 0o777|os.ModeSticky), os.Symlink(victim, link),
		os.Lchown(link, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, filepath.Join(link, "experiment")} {
		_, err := At(path)
		isPlace(t, err, link+" is a link that the user 65534 has made in a folder in which everybody can write, so it "+
			"is not followed (you are 0): remove it, or name the directory that it leads to")
	}
	if err := os.Lchown(link, 0, 0); err != nil {
		t.Fatal(err)
	}
	if d, err := At(link); err != nil || d.Path() != victim {
		t.Errorf("root's own link leads to %s: %v", d.Path(), err)
	}
}
