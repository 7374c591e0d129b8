package view

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
)

// A checkpoint that a node has written to the storage is there, although this machine does not have its files.
func TestStoredCheckpointIsThere(t *testing.T) {
	d, err := storage.At(filepath.Join(t.TempDir(), "x"))
	if err == nil {
		err = d.Create()
	}
	trial := d.Trial("00000_a")
	if err == nil {
		err = d.MakeTrialDir(trial, []byte("{}"))
	}
	m := storage.Manifest{Attempt: 1, Iteration: 3, Stored: "nodes/h/00000_a/000001-1-1",
		Files: []storage.File{{Path: "state", Bytes: 1, SHA256: strings.Repeat("a", 64)}}}
	if err == nil {
		_, err = d.CommitAway(trial, 1, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	here := func(id uint32) bool { return isThere(storage.FilesOf(storage.CheckpointDir(trial, id))) }
	if !here(1) || here(2) {
		t.Error("the first is in the storage, and the second is nowhere")
	}
}
