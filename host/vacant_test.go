package host

import (
	"os"
	"path/filepath"
	"testing"
)

// B-155: a new experiment does not begin in a folder in which files have the names of its
// own.
func TestFolderIsTaken(t *testing.T) {
	for _, name := range []string{"LOCK", ".crash.txt", "run.json", "journal/notes.txt", "trials/mine/a"} {
		o, _ := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: chaos}\nspace: {}\n")
		path := filepath.Join(o.Storage, "test", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "journal/notes.txt" {
			t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(path)) }) // it is no record to be replayed
		}
		contains(t, refused(t, o), "exists, but no experiment that it could belong to", "--name")
		if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
			t.Errorf("%s: %q, %v", path, text, err)
		}
		if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
	}
}
