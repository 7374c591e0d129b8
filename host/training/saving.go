package training

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

type pendingSave struct {
	id        uint32
	iteration uint64
	dir       string
	memory    bool
}

func (t *Driver) save(a core.SaveAttempt, dir string) {
	t.ask(a.Trial, a.Attempt, pendingSave{id: a.ID, iteration: a.Iteration}, train.Save, dir)
}

// ask orders a save; one that cannot be made is reported as failed.
func (t *Driver) ask(no core.TrialNo, attempt uint32, s pendingSave, kind train.CommandKind, dir string) {
	var err error
	if s.dir, err = storage.Stage(dir, s.id); diskspace.IsFull(err) {
		go t.resave(&run{trial: no, attempt: attempt, dir: dir}, s, err.Error())
		return
	}
	there := err == nil && t.with(no, attempt, func(r *run) {
		r.saves = append(r.saves, s)
		r.tell(train.Command{Kind: kind, Dir: s.dir})
	})
	if !there {
		t.cannotSave(no, attempt, s.id, err)
	}
}

// take keeps a checkpoint that the trainable has made by itself. What can be moved is
// moved before the trainable goes on: it may then make another one of the same name.
func (t *Driver) take(a core.TakeCheckpoint, dir string) {
	m := storage.Manifest{Trial: uint32(a.Trial), Attempt: a.Attempt, Iteration: a.Iteration}
	if a.Again {
		t.keep(dir, a.ID, &m, func() (bytes int64, err error) {
			err = t.whenRoom(func() (err error) {
				bytes, err = t.Storage.Retake(dir, a.ID, &m, a.Path, a.Rebooted)
				return err
			})
			return bytes, err
		})
		return
	}
	t.with(a.Trial, a.Attempt, func(r *run) { m.Parent = r.parent() })
	prepare := func() error { return storage.Take(dir, a.ID, a.Path) }
	if storage.Moves(dir, a.Path) {
		if err := prepare(); !diskspace.IsFull(err) {
			prepare = func() error { return err }
		}
	}
	t.commit(dir, a.ID, m, prepare)
}

// turns let the checkpoints of a trial become whole one after the other: the one that
// counts last is the one that the trial goes on from.
type turns struct {
	mu   sync.Mutex
	last map[core.TrialNo]chan struct{}
}

// take is the next turn of a trial: it has come once before is closed, and over ends it.
func (t *turns) take(no core.TrialNo) (before <-chan struct{}, over func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	earlier, mine := t.last[no], make(chan struct{})
	if earlier == nil {
		earlier = make(chan struct{})
		close(earlier)
	}
	t.last[no] = mine
	return earlier, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		close(mine)
		if t.last[no] == mine {
			delete(t.last, no)
		}
	}
}

// commit makes a checkpoint whole that is staged once it is prepared.
func (t *Driver) commit(dir string, id uint32, m storage.Manifest, prepare func() error) {
	t.keep(dir, id, &m, func() (bytes int64, err error) {
		if err = t.whenRoom(prepare); err != nil {
			return 0, err
		}
		err = t.whenRoom(func() (err error) {
			bytes, err = t.Storage.Commit(dir, id, m)
			return err
		})
		return bytes, err
	})
}

// keep has a checkpoint made, beside everything else but the trial's earlier ones (B-051).
func (t *Driver) keep(dir string, id uint32, m *storage.Manifest, make func() (bytes int64, err error)) {
	t.saving.Add(1)
	before, over := t.turns.take(core.TrialNo(m.Trial))
	go func() {
		defer t.saving.Done()
		defer over()
		<-before
		started := t.Clock.Now()
		bytes, err := make()
		if err != nil {
			t.cannotSave(core.TrialNo(m.Trial), m.Attempt, id, err)
			return
		}
		t.Saved(storage.CheckpointDir(dir, id))
		if d := t.Clock.Since(started); d > slowSave {
			t.Log.Slow("saving a checkpoint", d)
		}
		t.Inbox.Post(&core.CheckpointSaved{Trial: core.TrialNo(m.Trial), Attempt: m.Attempt, ID: id, Iteration: m.Iteration, Bytes: bytes})
	}()
}

const slowSave = 10 * time.Second

// whenRoom does something again and again while the disk is full, until the host
// ends (B-087).
func (t *Driver) whenRoom(do func() error) error { return t.Disk.WhenRoom(t.ending, do) }

// resave asks again for a checkpoint that the trainable had no room for: it
// still waits for the decision on its result.
func (t *Driver) resave(r *run, s pendingSave, text string) {
	err := t.Disk.Wait(t.ending, syscall.ENOSPC, func() (err error) {
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

// unsaved tells that a checkpoint of a run will not come.
func (t *Driver) unsaved(no core.TrialNo, attempt uint32, id uint32, err error) {
	t.Inbox.Post(saveFailed(no, attempt, id, err))
}

// cannotSave is unsaved for those who do not hold the lock, and do not know whether the
// run is still there. Where its end waits for its models, the end comes first: a trial
// that has ended does not fail for want of a checkpoint.
func (t *Driver) cannotSave(no core.TrialNo, attempt uint32, id uint32, err error) {
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
