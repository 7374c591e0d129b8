package attempt

import (
	"context"
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
)

// fetch copies the checkpoint that the run continues from. The run cannot change the
// checkpoint itself, and damage is found before it is loaded.
func (t *Driver) fetch(r *run, s *storage.Saving) error {
	if r.from.ID == 0 {
		return nil
	}
	if r.held {
		return t.Memory.Restore(uint32(r.Trial), r.from.ID, r.start.Restore)
	}
	if err := storage.CheckRecorded(r.checkpoint, r.from); err != nil {
		return err
	}
	return t.Checkpoints.Fetch(r.place, r.checkpoint, r.start.Restore, s)
}

// fetching returns what ends a run's copy of a checkpoint when the run is told to stop, or when the host ends: the copy
// is of no use then, and a large one takes long. over is called after the copy.
func (t *Driver) fetching(r *run) (s *storage.Saving, over func()) {
	until, end := context.WithCancelCause(context.Background())
	t.mu.Lock()
	r.cancelStart = func() { end(errStopped) }
	t.mu.Unlock()
	go func() {
		select {
		case <-t.ending:
			end(errStopped)
		case <-until.Done():
		}
	}()
	return storage.NewSaving(until), func() { end(nil) }
}

// makeWay keeps what somebody has put where the copy goes.
func (t *Driver) makeWay(r *run) {
	if r.from.ID == 0 {
		return
	}
	kept, err := storage.MakeWay(r.start.Restore)
	switch {
	case err != nil:
		t.Log.Warn(fmt.Sprintf("%s is in the way of the copy of a checkpoint: %v", r.start.Restore, err))
	case kept != "":
		t.Log.Warn(fmt.Sprintf("%s was not made by tunehost, and is now %s", r.start.Restore, kept))
	}
}

// discardCopy removes the copy.
func (t *Driver) discardCopy(r *run) {
	if r.from.ID == 0 || t.closed { // the next host does it
		return
	}
	t.saving.Go(func() {
		if err := t.Checkpoints.Discard(r.place, r.start.Restore); err != nil {
			t.Log.Warn("the copy of a checkpoint could not be removed: " + err.Error())
		}
	})
}

// parent returns the checkpoint that the run continued from.
func (r *run) parent() *storage.Parent {
	if r.from.ID == 0 || r.from.Trial == core.NoTrial || r.held {
		return nil
	}
	return &storage.Parent{Trial: uint32(r.from.Trial), ID: r.from.ID}
}

// dirFailed returns the end of a run whose directory could not be made or filled.
func dirFailed(err error) core.AttemptEnded {
	if _, ok := errors.AsType[*storage.DamagedError](err); ok {
		return core.AttemptEnded{Cause: core.Cause{Kind: core.CauseDamaged, Text: err.Error()}, Damaged: true}
	}
	if plugin.FailureOf(err) == plugin.Unreachable { // this is not a failure of the trial
		return core.AttemptEnded{Interrupted: true}
	}
	return core.AttemptEnded{Cause: core.Cause{Kind: core.CauseNoDirectory, Text: err.Error()}}
}
