package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// bystander makes a file that belongs to no host.
func bystander(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), dirMode),
		os.WriteFile(path, []byte("mine"), fileMode)); err != nil {
		t.Fatal(err)
	}
}

// unharmed checks that a bystander has not changed.
func unharmed(t *testing.T, path string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("%s: %q, %v", path, text, err)
	}
}

// B-155: files that a program or a person puts among checkpoints stay, under any name.
func TestBystandersAmongCheckpoints(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	commitNow(t, d, dir, 1)
	files := []string{"notes.tmp", "thesis.old/text.tex", "12/model", "000099/model", "000007.bak/model", "000008.tmp",
		"restored/notes.txt", "restored/000005/notes.txt", "000078.tmp/file",
		"000079.new/files/file", "000080.old/copy/file"}
	for _, name := range files {
		bystander(t, filepath.Join(dir, checkpoints, name))
	}
	bystander(t, filepath.Join(dir, checkpoints, "000079.new/notes.txt"))
	blobs := []string{"readme.txt", "ab/notes", strings.Repeat("a", 64)}
	for _, name := range blobs {
		bystander(t, filepath.Join(d.Blobs(), name))
	}
	if err := errors.Join(Restore(CheckpointDir(dir, 1), RestoredDir(dir, 4)),
		d.SweepTrial(dir, 4, func(uint32) bool { return false },
			func(uint32) bool { return false }), d.SweepBlobs()); err != nil {
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

// B-155: what stands where the copy of a new attempt goes gets another name.
func TestMakeWay(t *testing.T) {
	t.Parallel()
	_, dir := trial(t)
	copied := RestoredDir(dir, 2)
	if kept, err := MakeWay(copied); kept != "" || err != nil {
		t.Errorf("where nothing is: %q, %v", kept, err)
	}
	for _, want := range []string{copied + ".kept1", copied + ".kept2"} {
		bystander(t, filepath.Join(copied, "notes.txt"))
		if kept, err := MakeWay(copied); kept != want || err != nil {
			t.Errorf("%q, %v", kept, err)
		}
		unharmed(t, filepath.Join(want, "notes.txt"))
	}
}

// B-155: a program's folder with the name of a checkpoint gets another name.
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

// B-155: what has the name of an incomplete checkpoint and is none gets another name.
func TestOwnFolderOnTheWay(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	suffixes := []string{beingMade, beingKept, beingGone}
	for _, suffix := range suffixes {
		bystander(t, filepath.Join(CheckpointDir(dir, 1)+suffix, "model"))
	}
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	commitNow(t, d, dir, 1)
	if err := d.RemoveCheckpoint(dir, 1); err != nil {
		t.Error(err)
	}
	for _, suffix := range suffixes {
		unharmed(t, CheckpointDir(dir, 1)+suffix+".kept1/model")
	}
}

// A folder that cannot be read does not cause an endless search for another name.
func TestNoOtherName(t *testing.T) {
	t.Parallel()
	_, dir := trial(t)
	bystander(t, filepath.Join(dir, "file"))
	if err := moveAside(realDisk{}, filepath.Join(dir, "file", "000001")); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// B-155: of temporary files, a later host removes those of hosts, and nothing else.
func TestSweepTemporaries(t *testing.T) {
	t.Parallel()
	_, dir := trial(t)
	mine := []string{"run.json.tmp", ".run.json.mine.tunehost-tmp", "run.json.ABCDEFGHIJKLMNOPQRSTUVWXYZ.tunehost-tmp"}
	for _, name := range mine {
		bystander(t, filepath.Join(dir, name))
	}
	left := plainfile.Temporary(filepath.Join(dir, "run.json"))
	folder := plainfile.Temporary(filepath.Join(dir, "folder"))
	bystander(t, left)
	bystander(t, filepath.Join(folder, "model"))
	if err := errors.Join(SweepTemporaries(dir), SweepTemporaries(filepath.Join(dir, "none"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range mine {
		unharmed(t, filepath.Join(dir, name))
	}
	unharmed(t, filepath.Join(folder, "model"))
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", left, err)
	}
}

// B-155: replacing a file takes no other file's name and leaves no temporary file.
func TestWriteFileBesideOthers(t *testing.T) {
	t.Parallel()
	_, dir := trial(t)
	bystander(t, filepath.Join(dir, "run.json.tmp"))
	bystander(t, filepath.Join(dir, "folder", "file"))
	if err := WriteFile(filepath.Join(dir, "run.json"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "folder"), []byte("new")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	unharmed(t, filepath.Join(dir, "run.json.tmp"))
	if left, err := filepath.Glob(filepath.Join(dir, ".*.tunehost-tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %s %v", left, err)
	}
}
