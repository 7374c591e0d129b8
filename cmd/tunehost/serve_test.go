package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights.
const nobody = 65534

// unprivileged is a command that a user without rights runs in a folder of theirs: this user, unless that is root.
func unprivileged(t *testing.T) (dir string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "tunehost-other-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "tunehost")
	copyProgram(t, file)
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		as.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), file, args...)
		c.Dir, c.SysProcAttr = dir, as
		c.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "TMPDIR="+dir)
		return c
	}
}

// copyProgram copies this test, which is also tunehost.
func copyProgram(t *testing.T, file string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}

// A folder that cannot be listed is refused, and not shown as one without experiments.
func TestServeClosedFolder(t *testing.T) {
	dir, command := unprivileged(t)
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0o300); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(filepath.Join(dir, "closed"), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"serve", "closed", "--listen", "127.0.0.1:0"},
		{"report", "closed", "-o", "x.html"}} {
		out, err := command(args...).CombinedOutput()
		text := string(out)
		if err == nil || !strings.HasPrefix(text, "tunehost: closed: you have no permission to list this folder") ||
			strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %v, %q", args, err, text)
		}
	}
}
