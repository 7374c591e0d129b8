package storage

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOutputFile: -o replaces a plain file of this user alone. What is refused stays as it was.
func TestOutputFile(t *testing.T) {
	t.Chdir(t.TempDir())
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.WriteFile("target", []byte("old"), 0o600))
	do(os.Symlink("target", "link.svg"))
	do(os.Symlink("missing", "dangling.svg"))
	do(os.WriteFile("closed.svg", []byte("old"), 0o400))
	do(os.MkdirAll("folder.svg", 0o700))
	do(os.MkdirAll(filepath.Join("x", "journal"), 0o700))
	do(os.WriteFile(filepath.Join("x", "run.json"), []byte("{}"), 0o600))
	for file, want := range map[string]string{
		"link.svg": "this is a link", "dangling.svg": "this is a link", "closed.svg": "the file is read-only",
		"folder.svg": "this is a folder", "nodir/x.svg": "there is no folder nodir",
		"target/x.svg":    "target is not a folder",
		"x/journal/y.svg": "this is in the directory of the experiment x, which is for its own files",
		"x/y.svg":         "this is in the directory of the experiment x",
		"/dev/full.png":   "/dev is for devices", "/dev/full": "/dev is for devices",
	} {
		_, err := FindOutput(file)
		if err == nil || !strings.Contains(err.Error(), "-o "+file+": "+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
		if err := (&Output{named: file}).Write([]byte("new")); err == nil {
			t.Errorf("%s was written", file)
		}
	}
	if b, err := os.ReadFile("target"); err != nil || string(b) != "old" {
		t.Errorf("the target of a link has %q, %v", b, err)
	}
}

// TestOutputMode: a new file can be read by this user alone, whatever the umask; one that is replaced keeps its mode.
func TestOutputMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for _, mode := range []os.FileMode{0, 0o600, 0o640, 0o644} {
		file, want := filepath.Join(t.TempDir(), "x.svg"), mode
		if mode == 0 {
			want = 0o600
		} else if err := os.WriteFile(file, []byte("old"), mode); err != nil {
			t.Fatal(err)
		}
		if err := (&Output{named: file}).Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode() != want {
			t.Errorf("%v: %v, %v", mode, info.Mode(), err)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != "new" {
			t.Errorf("%q, %v", b, err)
		}
	}
}

// TestOutputOwner: a file of another user is refused.
func TestOutputOwner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.svg")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	o, err := FindOutput(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.checkOwner(os.Geteuid() + 1); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("%v", err)
	}
}
