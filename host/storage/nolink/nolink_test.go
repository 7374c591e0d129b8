package nolink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// world has a folder with a file, and links to both.
func world(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := errors.Join(os.Mkdir(filepath.Join(dir, "real"), 0o700),
		os.WriteFile(filepath.Join(dir, "real", "file"), []byte("text"), 0o600),
		os.Symlink("real", filepath.Join(dir, "folder")), os.Symlink("file", filepath.Join(dir, "real", "link")),
		os.Symlink("nowhere", filepath.Join(dir, "real", "dangling")), syscall.Mkfifo(filepath.Join(dir, "real",
			"pipe"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// uses are the operations on a path.
var uses = map[string]func(path string) error{
	"open":     func(p string) error { f, err := Open(p); return closed(f, err) },
	"make":     func(p string) error { f, err := OpenFile(p, os.O_RDWR|os.O_CREATE, 0o600); return closed(f, err) },
	"truncate": func(p string) error { f, err := OpenFile(p, os.O_WRONLY|os.O_TRUNC, 0); return closed(f, err) },
	"read":     func(p string) error { _, err := ReadFile(p, 100); return err },
	"folder":   func(p string) error { f, err := OpenDir(p); return closed(f, err) },
	"list":     func(p string) error { _, err := ReadDir(p); return err },
	"sync":     Sync,
	"chmod":    func(p string) error { return Chmod(p, 0o640) },
	"mkdirall": func(p string) error { return MkdirAll(p, 0o700) },
}

func closed(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}

// No operation follows a link in a path, and nothing changes behind one.
func TestLinksAreRefused(t *testing.T) {
	for what, use := range uses {
		dir := world(t)
		for path, link := range map[string]string{"real/link": "real/link", "real/dangling": "real/dangling",
			"folder/file": "folder", "folder": "folder"} {
			err := use(filepath.Join(dir, path))
			var refused *Error
			if !errors.As(err, &refused) || refused.Path != filepath.Join(dir, link) || refused.Is != "a link" {
				t.Errorf("%s %s: %v", what, path, err)
			}
		}
		same(t, dir)
	}
}

func same(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "real", "file"))
	info, errI := os.Stat(filepath.Join(dir, "real", "file"))
	if err != nil || errI != nil || string(text) != "text" || info.Mode() != 0o600 {
		t.Errorf("the file is %q, %v: %v %v", text, info.Mode(), err, errI)
	}
	if _, err := os.Stat(filepath.Join(dir, "real", "nowhere")); err == nil {
		t.Error("a file was made behind a link")
	}
}

// Operations on names act on the link itself, or fail below one.
func TestNames(t *testing.T) {
	dir := world(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	for what, err := range map[string]error{
		"mkdir": Mkdir(in("folder/x"), 0o700), "remove": Remove(in("folder/file")),
		"remove all":  RemoveAll(in("folder/file")),
		"rename from": Rename(in("folder/file"), in("x")), "rename to": Rename(in("real/file"), in("folder/x")),
		"link": Link(in("real/file"), in("folder/x")), "create": WriteFile(in("folder/x"), nil, 0o600),
	} {
		var refused *Error
		if !errors.As(err, &refused) || refused.Path != in("folder") {
			t.Errorf("%s: %v", what, err)
		}
	}
	same(t, dir)
	if err := errors.Join(WriteFile(in("real/link"), []byte("new"), 0o600), RemoveAll(in("folder"))); err != nil {
		t.Error(err)
	}
	same(t, dir)
	if text, err := ReadFile(in("real/link"), 3); err != nil || string(text) != "new" {
		t.Errorf("in the link's place: %q %v", text, err)
	}
}

// Only plain files within the size limit are opened, not pipes or devices.
func TestPlainFiles(t *testing.T) {
	dir := world(t)
	for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_CREATE} {
		f, err := OpenFile(filepath.Join(dir, "real", "pipe"), flag, 0o600)
		if closed(f, err) == nil || !strings.Contains(err.Error(), "pipe is a pipe: ") {
			t.Errorf("%d: %v", flag, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "real")); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := ReadFile(filepath.Join(dir, "real", "file"), 3); err == nil ||
		!strings.Contains(err.Error(), "has 4 bytes, more than the 3 allowed") {
		t.Error(err)
	}
	if text, err := ReadFile(filepath.Join(dir, "real", "file"), 4); err != nil || string(text) != "text" {
		t.Errorf("%q %v", text, err)
	}
}

// Writing a file by one name does not change its other names.
func TestOtherNames(t *testing.T) {
	dir := world(t)
	a, b := filepath.Join(dir, "real", "file"), filepath.Join(dir, "b")
	if err := Link(a, b); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(b, os.O_RDWR|os.O_TRUNC, 0)
	if closed(f, err) == nil || !strings.Contains(err.Error(), "hard link") {
		t.Error(err)
	}
	if err := errors.Join(closed(Open(b)), WriteFile(b, []byte("new"), 0o600)); err != nil {
		t.Error(err)
	}
	same(t, dir)
}

// Where the kernel does not refuse links, each element of a path is checked.
func TestWalk(t *testing.T) {
	dir := world(t)
	for path, want := range map[string]bool{"real/file": true, "real": true, ".": true, "real/link": false,
		"folder/file": false, "folder": false, "none": false} {
		fd, err := walk(filepath.Join(dir, path), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			_ = unix.Close(fd)
		}
	}
	if fd, err := walk("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil || unix.Close(fd) != nil {
		t.Error(err)
	}
}

// RemoveAll removes what os.RemoveAll removes, and RemoveTree also behind a link above.
func TestRemoval(t *testing.T) {
	for what, remove := range map[string]func(string) error{"all": RemoveAll, "tree": RemoveTree} {
		dir := world(t)
		in := func(name string) string { return filepath.Join(dir, name) }
		for _, path := range []string{in("none"), in("none/x"), in("real/file"), in("folder"), in("real"), in("real")} {
			if err := remove(path); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: %v %v", what, left, err)
		}
		if remove("/") == nil {
			t.Errorf("%s: the root was removed", what)
		}
	}
	dir := world(t)
	if err := RemoveTree(filepath.Join(dir, "folder", "file")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "real", "file")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
