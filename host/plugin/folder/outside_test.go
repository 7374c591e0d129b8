package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pinned returns the checksums of the plugin in a folder.
func pinned(t *testing.T, dir string) (*Plugin, Sums) {
	t.Helper()
	p, err := At(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Pin()
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// What the command names is pinned wherever it is, unless it comes from the PATH or plugin.yaml names it as unpinned.
func TestOutside(t *testing.T) {
	base := t.TempDir()
	dir, abs := filepath.Join(base, "plugin"), filepath.Join(base, "abs.py")
	put(t, base, map[string]string{"out.py": "1", "abs.py": "2", "data.bin": "3", "lib/a.py": "4",
		"run": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(base, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{"in.py": "5", "plugin.yaml": "{kind: searcher, name: x, command: [../run, -u, " +
		"in.py, ../out.py, " + abs + ", ../data.bin, ../lib, --no-such=file], unpinned: [../data.bin]}"})
	p, before := pinned(t, dir)
	for _, name := range []string{"../run", "in.py", "../out.py", abs} {
		if before.Tree[name] == "" {
			t.Errorf("%s is not pinned: %v", name, before.Tree)
		}
	}
	if len(before.Tree) != 5 || !before.Beyond() || p.Uncovered(before) != "what is in ../lib" {
		t.Errorf("pinned are %v; not covered is %q", before.Tree, p.Uncovered(before))
	}
	put(t, base, map[string]string{"data.bin": "changed"})
	if err := p.Unchanged(before); err != nil {
		t.Error(err)
	}
	put(t, base, map[string]string{"abs.py": "changed"})
	err := p.Unchanged(before)
	if err == nil || !strings.Contains(err.Error(), abs+" has changed since this host began") {
		t.Error(err)
	}
}

// A plugin whose checksums cover less than it runs says so.
func TestUncovered(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"s.py": "#!/usr/bin/env python3\n", "program": "\x7fELF", "p/main.sh": "",
		"p/plugin.yaml": "{kind: searcher, name: x, command: [sh, main.sh]}", "q/main.sh": "",
		"q/plugin.yaml": "{kind: searcher, name: x, command: [sh, main.sh]}", "q/.venv/a": "",
		"q/js/node_modules/a": "", "q/env/pyvenv.cfg": "", "q/.git/HEAD": ""})
	for _, file := range []string{"s.py", "program"} {
		if err := os.Chmod(filepath.Join(dir, file), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"s.py": "what s.py loads from other files, unlike a folder with a plugin.yaml", "program": "", "p": "",
		"q": "what is in .venv, env, js/node_modules"} {
		p, s := pinned(t, filepath.Join(dir, name))
		if got := p.Uncovered(s); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
