package inherit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
)

// B-054: a checkpoint whose files are in the storage of its experiment alone is fetched from there.
func TestStartsFromTheStorage(t *testing.T) {
	store, earlier := filepath.Join(t.TempDir(), "earlier"), dirAt(t)
	url := "file://" + filepath.ToSlash(store)
	trial := earlier.Trial("00001_a")
	from := t.TempDir()
	err := errors.Join(os.MkdirAll(trial, 0o700), os.MkdirAll(store, 0o700),
		os.WriteFile(filepath.Join(from, "weights"), []byte("w"), 0o600), mirror.Remember(earlier.Path(), url))
	if err != nil {
		t.Fatal(err)
	}
	node, err := mirror.OpenSeen(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	m := storage.Manifest{Trial: 1, Iteration: 7, Stored: "nodes/h/00001_a/000003-1-1"}
	if m.Files, err = node.Save(t.Context(), m.Stored, from, func() {}); err != nil {
		t.Fatal(err)
	}
	if _, err := earlier.CommitAway(trial, 3, m); err != nil {
		t.Fatal(err)
	}
	e := &config.Experiment{Restore: storage.CheckpointFiles(trial, 3)}
	if err := Restorable(e); err != nil {
		t.Errorf("before: %v", err)
	}
	d := dirAt(t)
	start, err := Start(e, d, true)
	if err != nil || start.Iteration != 7 {
		t.Fatalf("%+v, %v", start, err)
	}
	if text, err := os.ReadFile(filepath.Join(storage.FilesOf(StartDir(d)), "weights")); string(text) != "w" {
		t.Errorf("%q, %v", text, err)
	}
}

func dirAt(t *testing.T) storage.Dir {
	t.Helper()
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}
