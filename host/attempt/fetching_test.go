package attempt

import (
	"context"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// endlessCopies never complete the copy of a checkpoint for a trial.
type endlessCopies struct {
	SharedFiles
	begun chan struct{}
}

func (f *endlessCopies) Fetch(_ exec.Place, _, _ string, s *storage.Saving) error {
	over := make(chan struct{})
	defer s.AtEnd(func() { close(over) })()
	f.begun <- struct{}{}
	<-over
	return s.Err()
}

// B-023: a trial that is stopped before it runs, or whose host ends, does not wait until the checkpoint is copied that
// it was to continue from.
func TestStopDuringTheCopy(t *testing.T) {
	t.Run("stop", func(t *testing.T) {
		x := copyingFor(t, func(c *endlessCopies) Checkpoints { return c })
		x.Put(Work{Action: core.StopAttempt{Trial: 1, Attempt: 1}})
		x.Flush()
		x.saving.Wait()
	})
	t.Run("the host ends", func(t *testing.T) { // it is closed, and that waits for copies
		copyingFor(t, func(c *endlessCopies) Checkpoints { return c })
		copyingFor(t, func(c *endlessCopies) Checkpoints { return c.SharedFiles })
	})
}

// copyingFor starts a trial whose checkpoint is being copied, or brought from a storage.
func copyingFor(t *testing.T, files func(*endlessCopies) Checkpoints) *Driver {
	t.Helper()
	copies := &endlessCopies{begun: make(chan struct{})}
	x, _ := trains(t, clock.System{}, func(o *Options) {
		copies.SharedFiles = SharedFiles{Storage: o.Storage, Bring: func(ctx context.Context, _ string) error {
			copies.begun <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		o.Checkpoints = files(copies)
	})
	dir, from := x.Storage.Trial("1"), core.CheckpointRef{Trial: 1, ID: 1, Attempt: 1, Iteration: 1}
	if _, err := storage.Stage(dir, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Storage.Commit(dir, 1, storage.Manifest{Trial: 1, Attempt: 1, Iteration: 1}); err != nil {
		t.Fatal(err)
	}
	x.Put(Work{Action: core.StartAttempt{Trial: 1, Attempt: 1, Restore: from}, Dir: dir, Params: []byte(`{}`),
		Checkpoint: storage.CheckpointDir(dir, 1),
		Trial:      &sdk.Trial{Dir: dir, Params: []byte(`{}`), Restore: storage.RestoredDir(dir, 1)}})
	x.Flush()
	<-copies.begun
	return x
}
