package upload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file that has changed since it was first uploaded is told of once, also by the next host.
func TestChanges(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "uploads.json")
	write(t, dir, map[string]string{"data/x": "1", "data/y": "1", "data/z": "1", "train.py": "1"})
	m := Remember(file)
	step := func(what string, names []string, want ...string) {
		t.Helper()
		tree, err := Collect(dir, names, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Changes(names, &tree); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q %v, want %q", what, got, err, want)
		}
	}
	data, more := []string{"data"}, []string{"data", "train.py"}
	step("first", data)
	step("unchanged", data)
	write(t, dir, map[string]string{"data/x": "7", "data/new": "1"})
	if err := os.Remove(filepath.Join(dir, "data/z")); err != nil {
		t.Fatal(err)
	}
	step("changed", data, "data/new", "data/x", "data/z")
	write(t, dir, map[string]string{"data/x": "8"})
	step("told", data)
	m = Remember(file)
	step("told by the last host", data)
	write(t, dir, map[string]string{"data/y": "7"})
	m = Remember(file)
	step("changed between hosts", more, "data/y")
	write(t, dir, map[string]string{"train.py": "2"})
	step("a file that was listed later", more, "train.py")
	step("a name less", data)
}

// A damaged memory is said, and begins again.
func TestDamagedMemory(t *testing.T) {
	for _, text := range []string{"", "{", "[]", "null", `{"files": 1}`, `{"names": []}`} {
		file := filepath.Join(t.TempDir(), "uploads.json")
		write(t, filepath.Dir(file), map[string]string{"uploads.json": text})
		m, tree := Remember(file), Tree{Files: []File{{Path: "x", SHA256: "1"}}}
		_, err := m.Changes([]string{"x"}, &tree)
		if err == nil || !strings.Contains(err.Error(), file+" cannot be read") {
			t.Errorf("%q: %v", text, err)
		}
		tree.Files[0].SHA256 = "2"
		if got, err := Remember(file).Changes([]string{"x"}, &tree); err != nil || !slices.Equal(got, []string{"x"}) {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
}
