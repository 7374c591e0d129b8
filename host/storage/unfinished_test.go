package storage

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// B-155: the checkpoint that a killed program had begun is removed. Similar names stay, and so does
// the target of a link of that name.
func TestSweepUnfinished(t *testing.T) {
	t.Parallel()
	_, dir := trial(t)
	root, elsewhere := filepath.Join(dir, handovers), t.TempDir()
	bystander(t, filepath.Join(elsewhere, "model"))
	bystander(t, filepath.Join(root, ".new-ab_12xyz/deep/model"))
	kept := []string{".new-short/model", ".new-ab_12xyz9/model", ".new-AB_12XYZ/model", "new-ab_12xyz/model",
		".new-file0000", "checkpoint-ab_12xyz/model"}
	for _, name := range kept {
		bystander(t, filepath.Join(root, name))
	}
	link := filepath.Join(root, ".new-linklink")
	if err := errors.Join(os.Symlink(elsewhere, link), SweepUnfinished(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(root, ".new-ab_12xyz")); !os.IsNotExist(err) {
		t.Errorf("what the program had begun is still there: %v", err)
	}
	for _, name := range kept {
		unharmed(t, filepath.Join(root, name))
	}
	unharmed(t, filepath.Join(link, "model"))
}

// A folder of checkpoints that is a link is not followed, and a trial need not have one.
func TestSweepUnfinishedBehindLink(t *testing.T) {
	t.Parallel()
	_, dir := trial(t)
	if err := SweepUnfinished(dir); err != nil {
		t.Error(err)
	}
	elsewhere := t.TempDir()
	bystander(t, filepath.Join(elsewhere, ".new-ab_12xyz/model"))
	if err := os.Symlink(elsewhere, filepath.Join(dir, handovers)); err != nil {
		t.Fatal(err)
	}
	if SweepUnfinished(dir) == nil {
		t.Error("a link is taken for the folder")
	}
	unharmed(t, filepath.Join(elsewhere, ".new-ab_12xyz/model"))
}
