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

// A host that is told to end does not wait for ever for its saves: a save that makes no progress within the grace
// is given up. If a batch system or a timeout sends the signal, nobody sends a second one. The host waits for a
// save that makes progress, however long it takes: a save that is given up is lost, while the next host completes
// what a killed host leaves.

// leastStill is the least time without progress after which a save is given up, also without a grace.
const leastStill = time.Second

// saves are the saves in progress.
type saves struct {
	sync.WaitGroup // of goroutines that save
	turns
	mu    sync.Mutex
	after func(func()) // calls a function when a grace is over; nil: the host was not told to end
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
	return fmt.Sprintf("the host was told to end, and saving has made no progress for stop_grace (%v)", e.grace)
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
	if s.after != nil {
		s.watch(x, grace, 0)
	}
	return x, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.now, x)
		giveUp(nil)
	}
}

// leave gives up saves that make no progress within the grace, from now on.
func (s *saves) leave(grace time.Duration, after func(func())) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.after != nil {
		return
	}
	s.after = after
	for x := range s.now {
		mark, _ := x.Stands(0)
		s.watch(x, grace, mark)
	}
}

// watch gives a save up if it is still at the mark when the grace is over, and otherwise goes on watching it. It
// needs s.mu.
func (s *saves) watch(x *storage.Saving, grace time.Duration, mark int64) {
	s.after(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		save, there := s.now[x]
		if !there {
			return
		}
		now, stands := x.Stands(mark)
		if stands {
			save.giveUp(&givenUpError{grace})
			return
		}
		s.watch(x, grace, now)
	})
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

// sayProgress tells the user how far a long save is, less and less often.
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
			t.Log.Counted("slow save", fmt.Sprint(no), fmt.Sprintf("trial %d saves a checkpoint, %s", no,
				storage.Share(done, total)), saySlow)
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

func saySlow(n int) string {
	return fmt.Sprintf("checkpoints of %d trials took longer than %v to save; host.log has them", n, slowSave)
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
