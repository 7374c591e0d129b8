package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bystander makes a file that no host has made.
func bystander(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), dirMode), os.WriteFile(path, []byte("mine"), fileMode)); err != nil {
		t.Fatal(err)
	}
}

// unharmed checks that it is as it was.
func unharmed(t *testing.T, path string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("%s: %q, %v", path, text, err)
	}
}

// B-155: what a program or a person has put among checkpoints stays, whatever it is
// called.
func TestBystandersAmongCheckpoints(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	commitNow(t, d, dir, 1)
	files := []string{"notes.tmp", "thesis.old/text.tex", "12/model", "000099/model", "000007.bak/model", "000008.tmp", "restored/notes.txt"}
	for _, name := range files {
		bystander(t, filepath.Join(dir, checkpoints, name))
	}
	blobs := []string{"readme.txt", "ab/notes", strings.Repeat("a", 64)}
	for _, name := range blobs {
		bystander(t, filepath.Join(d.Blobs(), name))
	}
	if err := errors.Join(Restore(CheckpointDir(dir, 1), RestoredDir(dir, 4)),
		d.SweepTrial(dir, func(uint32) bool { return false }, func(uint32) bool { return false }), d.SweepBlobs()); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		unharmed(t, filepath.Join(dir, checkpoints, name))
	}
	for _, name := range blobs {
		unharmed(t, filepath.Join(d.Blobs(), name))
	}
	for _, gone := range []string{CheckpointDir(dir, 1), RestoredDir(dir, 4)} {
		if _, err := os.Lstat(gone); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", gone, err)
		}
	}
}

// B-155: a program's own folder that has the name of a checkpoint gets another name.
func TestOwnFolderInTheWay(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	for id := range uint32(2) {
		bystander(t, filepath.Join(CheckpointDir(dir, 1), "model"))
		stage(t, dir, 1, map[string][]byte{"w": weights(byte(id))})
		commitNow(t, d, dir, 1)
		if _, err := ReadManifest(CheckpointDir(dir, 1)); err != nil {
			t.Error(err)
		}
		if err := d.RemoveCheckpoint(dir, 1); err != nil {
			t.Error(err)
		}
	}
	unharmed(t, CheckpointDir(dir, 1)+".kept1/model")
	unharmed(t, CheckpointDir(dir, 1)+".kept2/model")
}

// What cannot be looked at is no reason to look for another name for ever.
func TestNoOtherName(t *testing.T) {
	t.Parallel()
	_, dir := trial(t)
	bystander(t, filepath.Join(dir, "file"))
	if err := makeWay(realDisk{}, filepath.Join(dir, "file", "000001")); err == nil {
		t.Error("a file is taken for a folder")
	}
}
