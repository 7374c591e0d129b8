package holding

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage"
)

// Who resumes an experiment whose host is ending is told what that waits for, and not to end it.
func TestInUse(t *testing.T) {
	held := &journal.LockedError{Dir: "results/e", PID: 7, Host: "login1", Started: "2026-11-28T18:00:00Z"}
	const leaving = `its host still waits for the executor "slurm" to give 2 leases back, 20s more at most`
	for why, want := range map[string]string{
		"":      " since 2026-11-28T18:00:00Z: stop that one first; `tunehost watch",
		leaving: ": " + leaving + "; try again when it has ended",
	} {
		if got := inUse(held, why).Error(); !strings.HasPrefix(got, "results/e is in use by process 7 on login1"+want) {
			t.Errorf("%q: %s", why, got)
		}
	}
}

// A host that continues an experiment whose last host still gives leases back says that it waits, and begins when that
// has ended: the next of a chain of jobs may begin before the last one is over.
func TestLeavingHost(t *testing.T) {
	dir, lock := leavingDir(t, time.Hour)
	said := written(func(string) { _ = lock.Unlock() }) // it ends once the next one waits
	got, err := lockSoon(dir, &options.Options{Clock: clock.System{}, Output: options.Output{Stderr: &said}})
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Unlock()
}

// It does not wait for a host that has more to do, or against the user's will.
func TestNoWait(t *testing.T) {
	asked := options.NewExit(&strings.Builder{})
	asked.Ask("interrupted")
	for name, test := range map[string]struct {
		waits time.Duration
		exit  *options.Exit
	}{"at work": {-time.Hour, nil}, "interrupted": {time.Hour, asked}} {
		dir, lock := leavingDir(t, test.waits)
		o := &options.Options{Clock: clock.System{}, Exit: test.exit}
		if _, err := lockSoon(dir, o); err == nil || !strings.Contains(err.Error(), "is in use by process ") {
			t.Errorf("%s: %v", name, err)
		}
		_ = lock.Unlock()
	}
}

// leavingDir is the directory of a host that waits for its executor for so long.
func leavingDir(t *testing.T, waits time.Duration) (storage.Dir, *journal.Lock) {
	t.Helper()
	dir, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lock, err := journal.LockDir(dir.Path(), time.Now())
	err = errors.Join(err, dir.NoteUnreleased(storage.Unreleased{Executor: "slurm", Names: []string{"th-a-1", "th-a-2"},
		Waits: time.Now().Add(waits)}))
	if err != nil {
		t.Fatal(err)
	}
	return dir, lock
}

// written is called with what is written.
type written func(text string)

func (w *written) Write(p []byte) (int, error) {
	(*w)(string(p))
	return len(p), nil
}
