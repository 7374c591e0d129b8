package training

import (
	"errors"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// fetch makes the run's own copy of the checkpoint that it goes on from, so that
// it cannot write into another's, and what is damaged is noticed before it is
// loaded.
func (t *Driver) fetch(r *run) error {
	if r.from.ID == 0 {
		return nil
	}
	if r.held {
		return t.Memory.Restore(uint32(r.trial), r.from.ID, r.start.Restore)
	}
	return storage.Restore(r.checkpoint, r.start.Restore)
}

// unfetch removes the copy.
func (t *Driver) unfetch(r *run) {
	if r.from.ID == 0 || t.closed { // the next host does it
		return
	}
	t.saving.Go(func() {
		if err := nolink.RemoveAll(r.start.Restore); err != nil {
			t.Log.Warn("the copy of a checkpoint could not be removed: " + err.Error())
		}
	})
}

// parent names the checkpoint that the run went on from.
func (r *run) parent() *storage.Parent {
	if r.from.ID == 0 || r.from.Trial == core.NoTrial || r.held {
		return nil
	}
	return &storage.Parent{Trial: uint32(r.from.Trial), ID: r.from.ID}
}

// unhoused is the end of a run whose directory, or what it needs in it, could not
// be made.
func unhoused(err error) *core.AttemptEnded {
	var damaged *storage.DamagedError
	if errors.As(err, &damaged) {
		return &core.AttemptEnded{Cause: core.Cause{Kind: core.CauseDamaged, Text: err.Error()}, Damaged: true}
	}
	return &core.AttemptEnded{Cause: core.Cause{Kind: core.CauseNoDirectory, Text: err.Error()}}
}
