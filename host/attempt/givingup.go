package attempt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/diskspace"
)

// A host that is told to end does not wait for ever for what it saves: a save has the grace, from when the host is told
// or from when it begins. Nobody sends a second signal where a batch system or a timeout sends the first.

// saves are the saves in progress.
type saves struct {
	sync.WaitGroup // of goroutines that save
	turns
	mu    sync.Mutex
	grace func(func()) // calls a function when the grace is over; nil: the host was not told to end
	now   map[*storage.Saving]save
}

// save is a save in progress.
type save struct {
	trial  core.TrialNo
	giveUp context.CancelCauseFunc
}

// givenUpError says that a save was not waited for.
type givenUpError struct{ grace time.Duration }

func (e *givenUpError) Error() string {
	return fmt.Sprintf("the host was told to end, and saving took longer than stop_grace (%v)", e.grace)
}

func givenUp(err error) bool {
	_, ok := errors.AsType[*givenUpError](err)
	return ok
}

// begin begins a save of a trial, which ends with a call of over.
func (s *saves) begin(no core.TrialNo, grace time.Duration) (x *storage.Saving, over func()) {
	until, giveUp := context.WithCancelCause(context.Background())
	x = storage.NewSaving(until)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = map[*storage.Saving]save{}
	}
	s.now[x] = save{no, giveUp}
	if s.grace != nil {
		s.grace(func() { giveUp(&givenUpError{grace}) })
	}
	return x, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.now, x)
		giveUp(nil)
	}
}

// leave gives up what is not saved within the grace.
func (s *saves) leave(grace time.Duration, after func(func())) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grace != nil {
		return
	}
	s.grace = after
	for _, x := range s.now {
		after(func() { x.giveUp(&givenUpError{grace}) })
	}
}

// of returns how far the slowest save of a trial is; total is 0 if none is known to take long.
func (s *saves) of(no core.TrialNo) (done, total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for x, of := range s.now {
		if d, t := x.Progress(); of.trial == no && t-d > total-done {
			done, total = d, t
		}
	}
	return done, total
}

// Saving returns how many bytes of how many of a trial's checkpoint are saved; total is 0 if that is not known.
func (t *Driver) Saving(no core.TrialNo) (done, total int64) { return t.saving.of(no) }

// sayProgress tells the user how far a save is that takes long, ever more rarely.
func (t *Driver) sayProgress(no core.TrialNo, s *storage.Saving, pause time.Duration) (stop func()) {
	var mu sync.Mutex
	var over bool
	var cancel func() bool
	var say func()
	say = func() {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		if done, total := s.Progress(); total > 0 {
			t.Log.Warn(fmt.Sprintf("trial %d saves a checkpoint, %s", no, storage.Share(done, total)))
		}
		pause *= 3
		cancel = t.Clock.AfterFunc(pause, say)
	}
	mu.Lock()
	defer mu.Unlock()
	cancel = t.Clock.AfterFunc(pause, say)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		cancel()
	}
}

// cannotKeep reports that a checkpoint was not kept, and removes what is left of one that was given up.
func (t *Driver) cannotKeep(dir string, m *storage.Manifest, id uint32, err error) {
	if !givenUp(err) {
		t.cannotSaveThere(core.TrialNo(m.Trial), m.Attempt, id, diskspace.TooLarge(err).Error())
		return
	}
	t.Log.Warn(fmt.Sprintf("trial %d: its checkpoint of iteration %d is given up: %v", m.Trial, m.Iteration, err))
	if err := t.Storage.RemoveUnfinished(dir, id); err != nil {
		t.Log.Warn(fmt.Sprintf("trial %d: what is left of that checkpoint could not be removed: %v", m.Trial, err))
	}
	t.failSave(core.TrialNo(m.Trial), m.Attempt, life.SaveImpossible{ID: id, Error: err.Error(), GivenUp: true})
}
