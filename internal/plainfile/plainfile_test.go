package plainfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An object in the place of a file is refused with its kind, before it is used.
func TestNotPlain(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	root, err := os.OpenRoot(dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	err = errors.Join(err, os.WriteFile(victim, []byte("kept"), 0o600), os.Symlink(victim, in("away")),
		os.WriteFile(in("file"), nil, 0o600),
		os.Symlink("file", in("link")), os.Symlink("none", in("nowhere")), os.Mkdir(in("folder"),
			0o700), syscall.Mkfifo(in("pipe"), 0o600),
		os.Link(victim, in("hard")))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"away": "is a link: ", "link": "is a link: ", "nowhere": "is a link: ",
		"folder": "is a folder: ",
		"pipe":   "is a pipe: ", "hard": "has another name elsewhere"} {
		f, err := In(root, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
		if err == nil {
			_ = f.Close()
		}
		var refused *Error
		if !errors.As(err, &refused) || refused.Path != in(name) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "kept" {
		t.Errorf("the victim's file is %q, %v", text, err)
	}
	if _, err := os.Lstat(in("none")); err == nil {
		t.Error("a file was made behind a link")
	}
}

// A regular file is opened as requested, and reads and writes block like those of any file.
func TestPlain(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := Replace(root, "file", []byte("old")); err != nil {
		t.Fatal(err)
	}
	f, err := In(root, "file", os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETFL, 0)
	if err != nil || info.Size() != 0 || errno != 0 || flags&syscall.O_NONBLOCK != 0 {
		t.Errorf("%v %v %v %x", info, err, errno, flags)
	}
}

// A temporary file has a unique name, and only such files are recognised by it.
func TestTemporary(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "a.tmp"), []byte("mine"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if err := Replace(root, "a", []byte("ours")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "b"), 0o700); err != nil || Replace(root, "b", nil) == nil {
		t.Errorf("a folder is replaced by a file: %v", err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 3 || list[0].Name() != "a" || list[1].Name() != "a.tmp" || list[2].Name() != "b" {
		t.Errorf("%v %v", list, err)
	}
	name := filepath.Base(Temporary(filepath.Join(dir, "run.json")))
	for name, want := range map[string]bool{name: true, TemporaryOf("a.tj", [16]byte{0: 7, 15: 255}): true,
		"x" + name: false, name + "x": false, "run.json.tmp": false, ".run.json.tunehost-tmp": false,
		strings.ToLower(name): false} {
		if IsTemporary(name) != want {
			t.Errorf("%s: not %t", name, want)
		}
	}
}
