// Package testplace provides surroundings for tests: folders with short paths, users with their own
// runtime folders, screens that can be read while they are written, and bystanders, files that do not
// belong to tunehost.
package testplace

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Short returns a folder whose path is short enough for sockets.
func Short(t testing.TB) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "tp-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Alone isolates the test's hosts and plugins from other tests, and returns the user's runtime
// folder.
func Alone(t testing.TB) (runtime string) {
	t.Helper()
	runtime = Short(t)
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	return runtime
}

// Bystanders are files that do not belong to tunehost, by path. The zero value has none.
type Bystanders struct {
	// Old is the time of their creation; zero means now.
	Old time.Time
	was map[string]string
}

// Put creates such files in a folder.
func (b *Bystanders) Put(t testing.TB, dir string, names ...string) {
	t.Helper()
	if b.was == nil {
		b.was = map[string]string{}
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		b.was[path] = "mine: " + path
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.was[path]), 0o600); err != nil {
			t.Fatal(err)
		}
		b.age(t, path, dir)
	}
}

// age sets the times of a file, and of the folders up to dir.
func (b *Bystanders) age(t testing.TB, path, dir string) {
	t.Helper()
	for p := path; p != dir && !b.Old.IsZero(); p = filepath.Dir(p) {
		if err := os.Chtimes(p, b.Old, b.Old); err != nil {
			t.Fatal(err)
		}
	}
}

// Check fails the test if one of them has changed.
func (b *Bystanders) Check(t testing.TB) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(b.was)) {
		if text, err := os.ReadFile(path); err != nil || string(text) != b.was[path] {
			t.Errorf("a bystander's file is not what it was: %s: %q, %v", path, text, err)
		}
	}
}
