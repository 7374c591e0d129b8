package host

import (
	"cmp"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
)

// holdStates prepares for pauses whose state is held in memory (B-052). Where there
// is no memory for it, they are saved on disk, as they were without the key.
func (s *session) holdStates(saves bool) *storage.Memory {
	if !s.experiment.Checkpoint.PausesInMemory || s.lock == nil {
		return nil
	}
	if !saves {
		s.log.Warn("checkpoint.pauses: memory: the trainable makes its checkpoints itself, on disk; pauses go on from the last of them")
		return nil
	}
	m, err := storage.OpenMemory(s.dir)
	if err != nil {
		s.log.Warn("checkpoint.pauses: memory: pauses are saved on disk: " + err.Error())
		return nil
	}
	return m
}

// stage makes the folder into which a run that is told to stop saves.
func (t *training) stage(a core.StopAttempt, dir string) (pendingSave, error) {
	s := pendingSave{id: a.SaveID}
	if a.Memory && t.memory != nil {
		if s.dir, s.memory = t.memory.Stage(uint32(a.Trial), a.SaveID); s.memory {
			return s, nil
		}
		t.log.Once("memory", "checkpoint.pauses: memory: there is little memory left for states of paused trials; what does not fit is saved on disk")
	}
	var err error
	s.dir, err = storage.Stage(dir, a.SaveID)
	return s, err
}

// hold keeps what a run has saved in memory.
func (t *training) hold(r *run, s pendingSave) {
	t.inbox.Post(&core.StateHeld{Trial: r.trial, Attempt: r.attempt, ID: s.id, Iteration: cmp.Or(s.iteration, r.iteration)})
}

// unheld frees the memory of a save that will not come: the core knows of none. It
// needs the lock.
func (t *training) unheld(no core.TrialNo, s pendingSave) {
	if s.memory && !t.closed { // the end of the host frees all
		t.drop(core.DropState{Trial: no, ID: s.id})
	}
}

// drop removes a state from memory.
func (t *training) drop(a core.DropState) {
	if t.memory == nil {
		return
	}
	t.saving.Go(func() {
		if err := t.memory.Drop(uint32(a.Trial), a.ID); err != nil {
			t.log.Warn(fmt.Sprintf("trial %d: its state could not be removed from memory: %v", a.Trial, err))
		}
	})
}

// letGo removes all states, at the end of the host.
func (t *training) letGo() {
	if t.memory == nil {
		return
	}
	if err := t.memory.Close(); err != nil {
		t.log.Warn("the states of paused trials could not be removed from memory: " + err.Error())
	}
}
