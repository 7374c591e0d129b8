package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func copyOf(t *testing.T, program, to string) {
	t.Helper()
	from := exec.Command(program) // looks it up in PATH
	if from.Err != nil {
		t.Fatal(from.Err)
	}
	b, err := os.ReadFile(from.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o700); err != nil {
		t.Fatal(err)
	}
}

// A program that replaces the hashed one is not executed.
func TestSwappedAfterTheHash(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux executes open files")
	}
	file := filepath.Join(t.TempDir(), "plugin")
	copyOf(t, "echo", file)
	sum, err := HashFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Program: Program{Path: file, SHA256: sum}}
	path, held, err := c.pinned()
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	defer held.Close()
	other := file + ".new"
	copyOf(t, "false", other)
	if err := os.Rename(other, file); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "the old one")
	cmd.Args[0] = file
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "the old one" {
		t.Errorf("%q %v", out, err)
	}
}

func TestPinnedFiles(t *testing.T) {
	dir := t.TempDir()
	script, library := filepath.Join(dir, "run"), filepath.Join(dir, "library.py")
	for _, f := range []string{script, library} {
		if err := os.WriteFile(f, []byte("#!/bin/sh\necho hello\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := HashFile(script)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Program: Program{Path: "run", Dir: dir, SHA256: sum, Files: map[string]string{library: sum}}}
	path, held, err := c.pinned()
	if path != "run" || held != nil || err != nil {
		t.Errorf("a script is started from %q (%v, %v), want its own path", path, held, err)
	}
	if err := os.WriteFile(library, []byte("import evil\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = c.pinned()
	if changed, ok := errors.AsType[*ChangedError](err); !ok || changed.Path != library || changed.Want != sum {
		t.Errorf("a changed file: %v", err)
	}
}
