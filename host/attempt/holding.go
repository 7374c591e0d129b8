package attempt

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
)

// stage makes the folder for the last checkpoint of a run.
func (t *Driver) stage(a core.StopAttempt, dir string, quick bool) (s life.Save, done bool, err error) {
	s = life.Save{ID: a.SaveID}
	if a.Memory && t.Memory != nil {
		if s.Dir, s.Memory = t.Memory.Stage(uint32(a.Trial), a.SaveID); s.Memory {
			return s, true, nil
		}
		t.Log.Once("memory", "checkpoint.pauses: memory: there is little memory left for states of paused trials; "+
			"what does not fit is saved on disk")
	}
	s.Dir, done, err = t.Checkpoints.Stage(t.item(a.Trial, a.Attempt, dir, a.SaveID), quick)
	return s, done, err
}

// hold posts that a run's state is in memory.
func (t *Driver) hold(r *run, s life.Save) {
	t.Inbox.Post(&core.StateHeld{Trial: r.Trial, Attempt: r.Attempt, ID: s.ID, Iteration: s.Iteration})
}

// freeMemory frees the memory of a save that failed. The caller holds the lock.
func (t *Driver) freeMemory(no core.TrialNo, s life.Save) {
	if s.Memory && !t.closed { // Close frees everything
		t.drop(core.DropState{Trial: no, ID: s.ID})
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

// dropAll removes all states from memory when the host ends.
func (t *Driver) dropAll() {
	if t.Memory == nil {
		return
	}
	if err := t.Memory.Close(); err != nil {
		t.Log.Warn("the states of paused trials could not be removed from memory: " + err.Error())
	}
}
