package host

import (
	"errors"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// noSpaceRetry is how long somebody waits on a full disk before he tries again.
const noSpaceRetry = time.Second

// disk knows who waits for room on it (B-087).
type disk struct {
	log *Log

	mu      sync.Mutex
	waiting int
}

// full says that somebody begins to wait.
func (d *disk) full() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting++; d.waiting == 1 {
		d.log.Warn("the disk is full: nothing is started, recorded or saved until there is room; free some space, and the experiment goes on by itself")
	}
}

// waited says that somebody waits no more, because there is room or for another
// reason.
func (d *disk) waited(room bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting--; d.waiting == 0 && room {
		d.log.Warn("there is room on the disk again; the experiment goes on")
	}
}

// noSpace: it is worth waiting. A record that has failed is not written any more,
// whatever made it fail.
func noSpace(err error) bool {
	if errors.Is(err, journal.ErrFailed) {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, journal.ErrNoSpace)
}

// toldNoSpace is noSpace for an error that comes from another process.
func toldNoSpace(text string) bool {
	return strings.Contains(text, syscall.ENOSPC.Error()) || strings.Contains(text, syscall.EDQUOT.Error())
}

// whenRoom does something again and again while the disk is full, until the host
// ends.
func (t *training) whenRoom(do func() error) error {
	err := do()
	if !noSpace(err) {
		return err
	}
	t.disk.full()
	for noSpace(err) {
		if !t.pause() {
			break
		}
		err = do()
	}
	t.disk.waited(err == nil)
	return err
}

// pause waits a moment; false when the host ends.
func (t *training) pause() bool {
	moment := make(chan struct{})
	stop := t.clock.AfterFunc(noSpaceRetry, func() { close(moment) })
	defer stop()
	select {
	case <-moment:
		return true
	case <-t.ending:
		return false
	}
}

// resave asks again for a checkpoint that the trainable had no room for: it
// still waits for the decision on its result.
func (t *training) resave(r *run, s pendingSave, text string) {
	first := true
	err := t.whenRoom(func() (err error) {
		if first {
			first = false
			return syscall.ENOSPC
		}
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
	t.inbox.post(saveFailed(no, attempt, id, err))
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
