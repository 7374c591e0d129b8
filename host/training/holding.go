package training

import (
	"cmp"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
)

// stage makes the folder into which a run that is told to stop saves.
func (t *Driver) stage(a core.StopAttempt, dir string) (pendingSave, error) {
	s := pendingSave{id: a.SaveID}
	if a.Memory && t.Memory != nil {
		if s.dir, s.memory = t.Memory.Stage(uint32(a.Trial), a.SaveID); s.memory {
			return s, nil
		}
		t.Log.Once("memory", "checkpoint.pauses: memory: there is little memory left for states of paused trials; what does not fit is saved on disk")
	}
	var err error
	s.dir, err = storage.Stage(dir, a.SaveID)
	return s, err
}

// hold keeps what a run has saved in memory.
func (t *Driver) hold(r *run, s pendingSave) {
	t.Inbox.Post(&core.StateHeld{Trial: r.trial, Attempt: r.attempt, ID: s.id, Iteration: cmp.Or(s.iteration, r.iteration)})
}

// unheld frees the memory of a save that will not come: the core knows of none. It
// needs the lock.
func (t *Driver) unheld(no core.TrialNo, s pendingSave) {
	if s.memory && !t.closed { // the end of the host frees all
		t.drop(core.DropState{Trial: no, ID: s.id})
	}
}

// drop removes a state from memory.
func (t *Driver) drop(a core.DropState) {
	if t.Memory == nil {
		return
	}
	t.saving.Go(func() {
		if err := t.Memory.Drop(uint32(a.Trial), a.ID); err != nil {
			t.Log.Warn(fmt.Sprintf("trial %d: its state could not be removed from memory: %v", a.Trial, err))
		}
	})
}

// letGo removes all states, at the end of the host.
func (t *Driver) letGo() {
	if t.Memory == nil {
		return
	}
	if err := t.Memory.Close(); err != nil {
		t.Log.Warn("the states of paused trials could not be removed from memory: " + err.Error())
	}
}
