package attempt

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// faraway are checkpoints of a place that has files of its own: what trainables save lies in a
// folder that the host's storage knows nothing of until it is committed.
type faraway struct {
	SharedFiles
	files string // of the place
	full  int    // so many commits find no room

	mu   sync.Mutex
	used []string
}

func (f *faraway) note(what string, at exec.Place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used = append(f.used, what+" on "+at.Node)
}

func (f *faraway) Stage(x Item, quick bool) (string, bool, error) {
	if quick {
		return "", false, nil
	}
	f.note("stage", x.Place)
	dir := filepath.Join(f.files, "staged")
	return dir, true, os.MkdirAll(dir, 0o700)
}

func (f *faraway) Commit(x Item, m storage.Manifest) (int64, error) {
	f.note("commit", x.Place)
	if f.full > 0 {
		f.full--
		return 0, syscall.ENOSPC
	}
	here, _, err := f.SharedFiles.Stage(x, false)
	if err != nil {
		return 0, err
	}
	if err := os.CopyFS(here, os.DirFS(filepath.Join(f.files, "staged"))); err != nil {
		return 0, err
	}
	return f.SharedFiles.Commit(x, m)
}

func (f *faraway) Fetch(at exec.Place, checkpoint, path string, s *storage.Saving) error {
	f.note("fetch", at)
	return f.SharedFiles.Fetch(at, checkpoint, filepath.Join(f.files, filepath.Base(path)), s)
}

func (f *faraway) Discard(at exec.Place, path string) error {
	f.note("discard", at)
	return f.SharedFiles.Discard(at, filepath.Join(f.files, filepath.Base(path)))
}

// B-051, B-087: a trial's checkpoints come from the place where it runs, and go there: the host
// reads and writes none of these files itself.
func TestCheckpointsOfAnotherPlace(t *testing.T) {
	far := &faraway{files: t.TempDir(), full: 1}
	x, p := trains(t, clock.System{}, func(o *Options) {
		far.SharedFiles = SharedFiles{Storage: o.Storage}
		o.Checkpoints, o.Saved = far, func(string) {}
	})
	p.say <- []train.Event{{Kind: train.Ended, Run: 1}}
	heardOf(t, x)

	startOn(x, 1, 0, "n1")
	testplace.Soon(t, "its start", func() bool { return p.count(train.Start) == 2 })
	run := p.last(train.Start).Run
	p.say <- []train.Event{{Kind: train.Result, Run: run, Metrics: []sdk.Metric{{Name: "score"}}}}
	dir := x.Storage.Trial("1")
	x.Put(Work{Action: core.SaveAttempt{Trial: 1, Attempt: 1, ID: 1, Iteration: 1}, Dir: dir})
	x.Flush()
	testplace.Soon(t, "the order to save", func() bool { return p.told(train.Save) })
	if err := os.WriteFile(filepath.Join(p.last(train.Save).Dir, "model"), []byte("weights"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.say <- []train.Event{{Kind: train.Saved, Run: run}}
	testplace.Soon(t, "the checkpoint", func() bool { return saved(x) })
	p.say <- []train.Event{{Kind: train.Ended, Run: run}}
	heardOf(t, x)

	ref := core.CheckpointRef{Trial: 1, ID: 1, Attempt: 1, Iteration: 1}
	x.Put(Work{Action: core.StartAttempt{Trial: 1, Attempt: 2, Restore: ref}, Dir: dir,
		Params: []byte(`{}`), Checkpoint: storage.CheckpointDir(dir, 1),
		Trial: &sdk.Trial{Dir: dir, Params: []byte(`{}`), Restore: storage.RestoredDir(dir, 2),
			Bundles: []sdk.Bundle{{Node: "n2"}}}})
	x.Flush()
	testplace.Soon(t, "its next attempt", func() bool { return p.count(train.Start) == 3 })
	copied := filepath.Join(far.files, filepath.Base(storage.RestoredDir(dir, 2)))
	if b, err := os.ReadFile(filepath.Join(copied, "model")); err != nil || string(b) != "weights" {
		t.Errorf("the place has %q: %v", b, err)
	}
	if _, err := os.Lstat(storage.RestoredDir(dir, 2)); err == nil {
		t.Error("the host has a copy of its own")
	}
	p.say <- []train.Event{{Kind: train.Ended, Run: p.last(train.Start).Run}}
	heardOf(t, x)
	x.saving.Wait()
	far.mu.Lock()
	defer far.mu.Unlock()
	want := []string{"stage on n1", "commit on n1", "commit on n1", "fetch on n2", "discard on n2"}
	if len(far.used) != len(want) {
		t.Fatalf("%q", far.used)
	}
	for i := range want {
		if far.used[i] != want[i] {
			t.Errorf("%q, want %q", far.used, want)
		}
	}
}
