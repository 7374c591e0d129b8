//go:build unix

package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// stopped is a save that is given up.
func stopped(t *testing.T, why error) *Saving {
	until, end := context.WithCancelCause(t.Context())
	end(why)
	return NewSaving(until)
}

// A save that is given up ends with the reason, whether it copies or completes the checkpoint, and nothing that is left
// of it stays after RemoveUnfinished.
func TestSaveThatIsGivenUp(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	commitNow(t, d, dir, 1)
	outside := filepath.Join(t.TempDir(), "made")
	if err := errors.Join(os.Mkdir(outside, dirMode),
		os.WriteFile(filepath.Join(outside, "w"), weights(2), fileMode)); err != nil {
		t.Fatal(err)
	}
	why := errors.New("the host ends")
	if err := stopped(t, why).Take(dir, 2, outside); !errors.Is(err, why) {
		t.Errorf("a copy: %v", err)
	}
	stage(t, dir, 3, map[string][]byte{"w": weights(3)})
	if _, err := d.During(stopped(t, why)).Commit(dir, 3, Manifest{}); !errors.Is(err, why) {
		t.Errorf("a commit: %v", err)
	}
	if err := stopped(t, why).Restore(CheckpointDir(dir, 1), filepath.Join(t.TempDir(), "copy")); !errors.Is(err, why) {
		t.Errorf("a copy for a trial: %v", err)
	}
	stage(t, dir, 4, map[string][]byte{"a": weights(4), "w": weights(1)})
	if err := os.Symlink("a", filepath.Join(Staged(dir, 4), "z")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Commit(dir, 4, Manifest{}); err == nil {
		t.Error("a link was saved")
	}
	for id := range uint32(3) {
		if err := d.RemoveUnfinished(dir, id+2); err != nil {
			t.Error(err)
		}
	}
	if blobs, err := filepath.Glob(filepath.Join(d.Blobs(), "*", "*")); err != nil || len(blobs) != 1 {
		t.Errorf("the checkpoint that is left has one file, the blobs are %v, %v", blobs, err)
	}
	list, err := os.ReadDir(filepath.Join(dir, checkpoints))
	if err != nil || len(list) != 1 || list[0].Name() != "000001" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := CheckCheckpoint(CheckpointDir(dir, 1), true); err != nil {
		t.Error(err)
	}
}

// A save says how much of how much it has handled.
func TestProgressOfASave(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1), "v": weights(2)})
	s := NewSaving(t.Context())
	if _, err := d.During(s).Commit(dir, 1, Manifest{}); err != nil {
		t.Fatal(err)
	}
	want := 2 * int64(len(weights(0)))
	if done, total := s.Progress(); done != want || total != want {
		t.Errorf("%d of %d, not %d", done, total, want)
	}
}

// Where a file is compared with another one that has the same content, no more is done than there is to do.
func TestProgressOfASharedFile(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	for id := range uint32(2) {
		stage(t, dir, id+1, map[string][]byte{"w": make([]byte, minShared)})
		s := NewSaving(t.Context())
		if _, err := d.During(s).Commit(dir, id+1, Manifest{}); err != nil {
			t.Fatal(err)
		}
		if done, total := s.Progress(); done != minShared || total != minShared {
			t.Errorf("%d: %d of %d", id+1, done, total)
		}
	}
}

// watchedDisk sees whether a save stands while it waits for the disk.
type watchedDisk struct {
	realDisk
	saving *Saving
	stands bool
}

func (d *watchedDisk) sync(path string) error {
	if filepath.Base(path) == "w" {
		mark, _ := d.saving.Stands(0)
		_, d.stands = d.saving.Stands(mark)
	}
	return d.realDisk.sync(path)
}

// A save that waits for the disk gets on.
func TestSyncIsProgress(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	on := &watchedDisk{saving: NewSaving(t.Context()), stands: true}
	if _, err := d.During(on.saving).commit(on, dir, 1, Manifest{}); err != nil {
		t.Fatal(err)
	}
	if on.stands {
		t.Error("it stands")
	}
	mark, _ := on.saving.Stands(0)
	if _, stands := on.saving.Stands(mark); !stands {
		t.Error("it gets on after its end")
	}
}
