package host

import (
	"errors"
	"os"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
)

// fetch makes the run's own copy of the checkpoint that it goes on from, so that
// it cannot write into another's, and what is damaged is noticed before it is
// loaded.
func (t *training) fetch(r *run) error {
	if r.from.ID == 0 {
		return nil
	}
	if r.held {
		return t.memory.Restore(uint32(r.trial), r.from.ID, r.start.Restore)
	}
	return storage.Restore(r.checkpoint, r.start.Restore)
}

// unfetch removes the copy.
func (t *training) unfetch(r *run) {
	if r.from.ID == 0 || t.closed { // the next host does it
		return
	}
	t.saving.Go(func() {
		if err := os.RemoveAll(r.start.Restore); err != nil {
			t.log.Warn("the copy of a checkpoint could not be removed: " + err.Error())
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
		return &core.AttemptEnded{Error: err.Error(), Damaged: true}
	}
	return &core.AttemptEnded{Error: "its directory cannot be made: " + err.Error()}
}

// sweep removes what earlier hosts left among the checkpoints: those that the
// record does not name, half ones, and copies. It is done before any trial runs.
func (s *session) sweep() {
	needed := map[core.CheckpointRef]bool{}
	s.machine.EachCheckpoint(func(x core.CheckpointRef) { x.Iteration = 0; needed[x] = true })
	for no := range core.TrialNo(s.machine.Trials()) {
		if !s.machine.HadCheckpoint(no) {
			continue
		}
		err := s.dir.SweepTrial(s.trials.dir(no), func(id uint32) bool { return needed[core.CheckpointRef{Trial: no, ID: id}] })
		if err != nil {
			s.log.Warn(s.trials.name(no) + ": what is left of its checkpoints could not be removed: " + err.Error())
		}
	}
	if err := s.dir.SweepBlobs(); err != nil {
		s.log.Warn("files of checkpoints that are gone could not be removed: " + err.Error())
	}
}
