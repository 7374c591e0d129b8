package host

import (
	"errors"
	"syscall"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// whenRoom does something again and again while the disk is full, until the host
// ends (B-087).
func (t *training) whenRoom(do func() error) error { return t.disk.WhenRoom(t.ending, do) }

// resave asks again for a checkpoint that the trainable had no room for: it
// still waits for the decision on its result.
func (t *training) resave(r *run, s pendingSave, text string) {
	err := t.disk.Wait(t.ending, syscall.ENOSPC, func() (err error) {
		s.dir, err = storage.Stage(r.dir, s.id)
		return err
	})
	there := err == nil && t.with(r.trial, r.attempt, func(r *run) {
		r.saves = append(r.saves, s)
		r.tell(train.Command{Kind: train.Save, Dir: s.dir})
	})
	if !there {
		t.cannotSave(r.trial, r.attempt, s.id, errors.New(text))
		return
	}
	t.send()
}

// stopLater stops a run once there is room for its last checkpoint.
func (t *training) stopLater(a core.StopAttempt, dir string) {
	err := t.whenRoom(func() error {
		_, err := storage.Stage(dir, a.SaveID)
		return err
	})
	if err != nil {
		t.cannotSave(a.Trial, a.Attempt, a.SaveID, err)
		a.SaveID = 0
	}
	t.stopRun(a, dir)
	t.send()
}

// unsaved tells that a checkpoint of a run will not come.
func (t *training) unsaved(no core.TrialNo, attempt uint32, id uint32, err error) {
	t.inbox.Post(saveFailed(no, attempt, id, err))
}

// cannotSave is unsaved for those who do not hold the lock, and do not know whether the
// run is still there. Where its end waits for its models, the end comes first: a trial
// that has ended does not fail for want of a checkpoint.
func (t *training) cannotSave(no core.TrialNo, attempt uint32, id uint32, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.exporting[no]; r != nil && r.attempt == attempt {
		r.exports.after = append(r.exports.after, saveFailed(no, attempt, id, err))
		return
	}
	t.unsaved(no, attempt, id, err)
}

func saveFailed(no core.TrialNo, attempt uint32, id uint32, err error) *core.SaveFailed {
	text := "the trainable had ended"
	if err != nil {
		text = err.Error()
	}
	return &core.SaveFailed{Trial: no, Attempt: attempt, ID: id, Error: text}
}
