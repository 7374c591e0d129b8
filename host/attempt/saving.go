package attempt

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/diskspace"
)

// save asks a run for a checkpoint, and reports a failure if it cannot be made.
func (t *Driver) save(a core.SaveAttempt, dir string) {
	s := life.Save{ID: a.ID, Iteration: a.Iteration}
	x := t.item(a.Trial, a.Attempt, dir, a.ID)
	var done bool
	var err error
	if s.Dir, done, err = t.Checkpoints.Stage(x, true); diskspace.IsFull(err) {
		go t.saveLater(a.Trial, a.Attempt, x, s, err.Error())
		return
	}
	if err == nil && !done {
		go t.saveElsewhere(t.makesFolder(a.Trial, a.Attempt), a, x, s)
		return
	}
	if err != nil {
		t.cannotSave(a.Trial, a.Attempt, a.ID, err.Error())
		return
	}
	t.askSave(a.Trial, a.Attempt, s, life.HadEnded)
}

// item returns a checkpoint of an attempt, which may have ended.
func (t *Driver) item(no core.TrialNo, attempt uint32, dir string, id uint32) Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := Item{Dir: dir, ID: id}
	if r := t.ran(no, attempt); r != nil {
		x.Place = r.place
	}
	return x
}

// ran returns the run of an attempt. It also returns a run that has ended, while its lease is held. The caller holds
// the lock.
func (t *Driver) ran(no core.TrialNo, attempt uint32) *run {
	if r := t.runs[no]; r != nil && r.Attempt == attempt {
		return r
	}
	for _, r := range t.departed {
		if r.Trial == no && r.Attempt == attempt {
			return r
		}
	}
	return nil
}

// parent returns the checkpoint that an attempt restored; nil: none.
func (t *Driver) parent(no core.TrialNo, attempt uint32) *storage.Parent {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.ran(no, attempt); r != nil {
		return r.parent()
	}
	return nil
}

// askSave asks a run for a checkpoint whose folder exists. If the run is over, the save fails,
// and otherwise is the reason.
func (t *Driver) askSave(no core.TrialNo, attempt uint32, s life.Save, otherwise string) {
	if !t.with(no, attempt, func(r *run) { t.apply(r, life.SaveAsked{Save: s}) }) {
		t.cannotSave(no, attempt, s.ID, otherwise)
	}
}

// take keeps a checkpoint that the trainable made by itself. If a rename is enough, it is moved
// before the trainable continues, which may then reuse the path.
func (t *Driver) take(a core.TakeCheckpoint, dir string) {
	m := storage.Manifest{Trial: uint32(a.Trial), Attempt: a.Attempt, Iteration: a.Iteration}
	if a.Again {
		t.keep(dir, a.ID, &m, func(s *storage.Saving) (bytes int64, err error) {
			err = t.whenRoom(func() (err error) {
				bytes, err = t.Storage.During(s).Retake(dir, a.ID, &m, a.Path, a.Rebooted)
				return err
			})
			t.notRetaken(a, dir, err)
			return bytes, err
		})
		return
	}
	m.Parent = t.parent(a.Trial, a.Attempt)
	x := t.item(a.Trial, a.Attempt, dir, a.ID)
	done, err := t.Checkpoints.Take(x, a.Path, true)
	t.commit(x, m, func(x Item) error {
		if !done || diskspace.IsFull(err) {
			done, err = t.Checkpoints.Take(x, a.Path, false)
		}
		return err
	})
}

// notRetaken says that a checkpoint which an earlier host had not completed is not used, and removes what is left of
// it. One that the trainable had not finished is no surprise. Where the disk is full, the next host tries again.
func (t *Driver) notRetaken(a core.TakeCheckpoint, dir string, err error) {
	if err == nil || diskspace.IsFull(err) || givenUp(err) {
		return
	}
	if !errors.Is(err, storage.ErrUnfinished) {
		t.Log.Warn(fmt.Sprintf("trial %d: what an earlier host left of its checkpoint of iteration %d is not "+
			"used: %v", a.Trial, a.Iteration, err))
	}
	if err := t.Storage.RemoveUnfinished(dir, a.ID); err != nil {
		t.Log.Warn(fmt.Sprintf("trial %d: what is left of that checkpoint could not be removed: %v", a.Trial, err))
	}
}

// turns orders the checkpoints of a trial: they are completed one after the other, since the
// trial continues from the last one.
type turns struct {
	mu   sync.Mutex
	last map[core.TrialNo]chan struct{}
}

// take returns the next turn of a trial. The turn comes when before is closed, and ends with a
// call of over.
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

// commit completes a checkpoint, after it has taken what the trainable made by itself.
func (t *Driver) commit(x Item, m storage.Manifest, take func(Item) error) {
	t.keep(x.Dir, x.ID, &m, func(s *storage.Saving) (bytes int64, err error) {
		x.Saving = s
		if err = t.whenRoom(func() error { return take(x) }); err != nil {
			return 0, err
		}
		err = t.whenRoom(func() (err error) {
			bytes, err = t.Checkpoints.Commit(x, m)
			return err
		})
		return bytes, err
	})
}

// keep makes a checkpoint in the background, after the trial's earlier ones (B-051).
func (t *Driver) keep(dir string, id uint32, m *storage.Manifest, make func(*storage.Saving) (bytes int64, err error)) {
	no := core.TrialNo(m.Trial)
	before, next := t.saving.take(no)
	t.saving.Go(func() {
		defer next()
		<-before
		s, over := t.saving.begin(no, t.Grace)
		defer over()
		started := t.Clock.Now()
		defer t.sayProgress(no, s, slowSave)()
		bytes, err := make(s)
		if err != nil {
			t.cannotKeep(dir, m, id, cmp.Or(s.Err(), err))
			return
		}
		t.Saved(storage.CheckpointDir(dir, id))
		if d := t.Clock.Since(started); d > slowSave {
			t.Log.Slow("saving a checkpoint", d)
		}
		t.Inbox.Post(&core.CheckpointSaved{Trial: core.TrialNo(m.Trial), Attempt: m.Attempt, ID: id,
			Iteration: m.Iteration, Bytes: bytes})
	})
}

// cannotSaveThere reports that a checkpoint cannot be made: at once for an attempt on this machine. On another machine
// a save may have failed because the lease is lost, which is not the trial's fault (B-075). Therefore it reports after
// a while: the event that the lease is lost comes first.
func (t *Driver) cannotSaveThere(no core.TrialNo, attempt uint32, id uint32, why string) {
	t.mu.Lock()
	r := t.ran(no, attempt)
	away := t.Apart && r != nil && r.place.Lease != 0
	t.mu.Unlock()
	if away {
		t.Clock.AfterFunc(leaseEventsWithin, func() { t.cannotSave(no, attempt, id, why) })
	} else {
		t.cannotSave(no, attempt, id, why)
	}
}

const slowSave = 10 * time.Second

// whenRoom repeats something while the disk is full, until the host ends (B-087).
func (t *Driver) whenRoom(do func() error) error { return t.Disk.WhenRoom(t.ending, do) }

// saveLater asks for a checkpoint once there is room for it. text is the error because of
// which it waits.
func (t *Driver) saveLater(no core.TrialNo, attempt uint32, x Item, s life.Save, text string) {
	err := t.Disk.Wait(t.ending, syscall.ENOSPC, func() (err error) {
		s.Dir, _, err = t.Checkpoints.Stage(x, false)
		return err
	})
	if err != nil {
		t.cannotSaveThere(no, attempt, s.ID, text)
		return
	}
	t.askSave(no, attempt, s, text)
	t.send()
}

// saveElsewhere asks for a checkpoint once its folder on another machine exists.
func (t *Driver) saveElsewhere(r *run, a core.SaveAttempt, x Item, s life.Save) {
	defer t.folderMade(r)
	err := t.whenRoom(func() (err error) {
		s.Dir, _, err = t.Checkpoints.Stage(x, false)
		return err
	})
	if err != nil {
		t.cannotSaveThere(a.Trial, a.Attempt, a.ID, err.Error())
		return
	}
	t.askSave(a.Trial, a.Attempt, s, life.HadEnded)
	t.send()
}

// commitSave completes a checkpoint that the trainable has written.
func (t *Driver) commitSave(r *run, s life.Save) {
	m := storage.Manifest{Trial: uint32(r.Trial), Attempt: r.Attempt, Iteration: s.Iteration, Parent: r.parent()}
	t.commit(r.item(s.ID), m, func(Item) error { return nil })
}

func (r *run) item(id uint32) Item { return Item{Place: r.place, Dir: r.dir, ID: id} }

// cannotSave reports that a checkpoint cannot be made. The run may be over.
func (t *Driver) cannotSave(no core.TrialNo, attempt uint32, id uint32, why string) {
	t.failSave(no, attempt, life.SaveImpossible{ID: id, Error: why})
}

func (t *Driver) failSave(no core.TrialNo, attempt uint32, e life.SaveImpossible) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range []*run{t.runs[no], t.exporting[no]} {
		if r != nil && r.Attempt == attempt {
			t.apply(r, e)
			r.saveOver()
			return
		}
	}
	failed := saveFailed(no, attempt, e.ID, e.Error)
	failed.GivenUp = e.GivenUp
	t.Inbox.Post(failed)
}

func saveFailed(no core.TrialNo, attempt uint32, id uint32, why string) *core.SaveFailed {
	return &core.SaveFailed{Trial: no, Attempt: attempt, ID: id, Error: why}
}
