package prepare

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
)

// A name is taken as soon as a host is about to begin an experiment of this name. What a host has left that did not
// begin takes no name.
func TestNameOfExperimentThatBegins(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "quick")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	expect := func(want bool) {
		t.Helper()
		exists, _, err := namesAt(t.Context(), root)
		if err != nil || exists("quick") != want {
			t.Errorf("the name is taken: %v, %v", !want, err)
		}
	}
	expect(false)
	lock, err := journal.LockDir(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	expect(true)
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	expect(false)
}
