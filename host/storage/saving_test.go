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
	if err := errors.Join(d.RemoveUnfinished(dir, 2), d.RemoveUnfinished(dir, 3)); err != nil {
		t.Error(err)
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
