package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/storage/lack"
)

// mounted is a directory on a disk of its own.
func mounted(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	mount(t, dir, options)
	return dir
}

// mount mounts an empty disk.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skip("a small disk cannot be mounted: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// B-087: what the disk lacks can be noted, and its end, where no file can be made.
func TestNotedWithoutAnInode(t *testing.T) {
	d := Dir{path: mounted(t, "size=16m,nr_inodes=3")}
	if err := d.ForgetLack(); err != nil || len(entries(t, d.path)) > 0 {
		t.Errorf("%v: a host that may yet refuse the directory has made a file", err)
	}
	if err := d.NoteLack(lack.Nothing); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.path, "last"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.path, "none"), nil, 0o600); lack.Of(d.path, err) != lack.Inodes {
		t.Fatalf("%v: %v", err, lack.Of(d.path, err))
	}
	for _, want := range append(lack.Kinds, lack.Nothing) {
		if err := d.NoteLack(want); err != nil || d.Lacks() != want {
			t.Errorf("%v: %v was noted instead of %v", err, d.Lacks(), want)
		}
	}
}

// B-087: a client is told what is missing, by the words that the host uses.
func TestRoomSaysWhatIsMissing(t *testing.T) {
	full, free := mounted(t, "size=1m"), t.TempDir()
	bare := mounted(t, "size=16m,nr_inodes=1")
	for i, c := range []struct {
		room  func(string) error
		dir   string
		noted lack.Lack
		want  string
	}{
		{Room, free, lack.Nothing, ""},
		{RoomForNew, filepath.Join(free, "a", "b"), lack.Nothing, ""},
		{Room, free, lack.Space, ""}, // for something large
		{Room, full, lack.Nothing, "the disk is full (less than 4 MiB are free): nothing can be recorded until there " +
			"is room; free some space, and the same request works"},
		{Room, full, lack.Quota, "your quota of the disk is used up: nothing can be recorded until there is room; " +
			"remove some files, and the same request works"},
		{Room, free, lack.Quota, "your quota of the disk is used up: "},
		{Room, bare, lack.Nothing, ""},
		{RoomForNew, filepath.Join(bare, "a"), lack.Nothing, "no file can be made on the disk (no inode is free): "},
	} {
		if c.noted != lack.Nothing {
			if err := (Dir{path: c.dir}).NoteLack(c.noted); err != nil {
				t.Fatal(err)
			}
		}
		err := c.room(c.dir)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) ||
			err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%d: %v; want %s", i, err, c.want)
		}
	}
}

// A file with the name of a note may be somebody else's: an experiment does not begin beside it, and renames nothing.
func TestNotesOfOthers(t *testing.T) {
	for _, name := range lackFiles {
		d, err := At(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.Path(), name), []byte("mine"), fileMode); err != nil {
			t.Fatal(err)
		}
		if err := d.Vacant(); err == nil {
			t.Errorf("an experiment begins beside somebody's %s", name)
		}
	}
}

// The error of a write says what is missing, and what to do. One without permission names the file.
func TestAdvice(t *testing.T) {
	for options, want := range map[string]string{"size=1m": "the disk is full; free some space, and run",
		"size=16m,nr_inodes=1": "no inode is free); remove some files, and run"} {
		dir := mounted(t, options)
		err := os.WriteFile(filepath.Join(dir, "x"), make([]byte, 2<<20), 0o600)
		if err = Advise(err); err == nil || !strings.Contains(err.Error(), want) || !IsFull(err) {
			t.Errorf("%s: %v", options, err)
		}
	}
	other := errors.New("other")
	if err := Advise(other); err != other || Advise(nil) != nil {
		t.Error(err)
	}
	protected := &os.LinkError{Op: "rename", Old: "/e/.tmp", New: "/e/run.json", Err: syscall.EPERM}
	if err := (Dir{path: "/e"}).Unwritable(protected); !strings.Contains(err.Error(), "/e/run.json cannot be written: "+
		"operation not permitted; ") {
		t.Error(err)
	}
}
