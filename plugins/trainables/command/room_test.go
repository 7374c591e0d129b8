package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Attempts without file descriptors wait for others to end; none fails, and the user sees a hint.
func TestHeldBack(t *testing.T) {
	p := openTest(t, opts{"command": []string{"sh", "-c", "echo '{{\"accuracy\": 1}}'"}})
	p.room = newRoom(descriptorsOfPlugin + 2*descriptorsOfAttempt + 1)
	var hints atomic.Int64
	var all sync.WaitGroup
	for range 12 {
		run := newRun(t)
		all.Go(func() {
			if err := p.Train(t.Context(), run); err != nil || len(run.values("accuracy")) != 1 {
				t.Errorf("%v, %v", err, run.values("accuracy"))
			}
			hints.Add(int64(len(run.hinted())))
		})
	}
	all.Wait()
	if p.room.users != 0 || p.room.left != 2*descriptorsOfAttempt+1 {
		t.Errorf("%d are left in, with room for %d", p.room.users, p.room.left)
	}
	if hints.Load() == 0 {
		t.Error("nobody was told")
	}
}

// A program that was held back for long has its own process id, not that of this process.
func TestProcessOfOneHeldBack(t *testing.T) {
	p := openTest(t, sh(`echo '{"accuracy": 1}'`))
	p.room = newRoom(0)
	p.room.take(1)
	run := newRun(t)
	ended := make(chan error)
	go func() { ended <- p.Train(t.Context(), run) }()
	eventually(t, "it says that it waits", func() bool {
		run.mu.Lock()
		defer run.mu.Unlock()
		return run.waits
	})
	p.room.giveBack(1)
	if err := <-ended; err != nil || len(run.pids) != 1 || run.pids[0] == os.Getpid() {
		t.Errorf("%v, %v", err, run.pids)
	}
}

// One attempt is always tried, however little room there is; the next waits until it has ended, or
// until it is told to stop.
func TestRoom(t *testing.T) {
	r := newRoom(10)
	if ok, _ := r.take(8); !ok {
		t.Fatal("the only one waits")
	}
	ok, freed := r.take(8)
	if ok {
		t.Fatal("there was no room for the second")
	}
	r.giveBack(8)
	<-freed
	if ok, _ := r.take(8); !ok {
		t.Error("the second waits for nobody")
	}
	run := newRun(t)
	close(run.stopped)
	p := &program{room: r}
	if _, err := p.admit(&waiter{ctx: context.Background(), run: run, began: time.Now()}, 8); !errors.Is(err,
		sdk.ErrStopped) {
		t.Error(err)
	}
}

// A temporary lack of resources is not the fault of the trial; all other errors are.
func TestLacking(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.EMFILE: true, syscall.ENFILE: true, syscall.EAGAIN: true, syscall.ENOMEM: true,
		syscall.ENOSPC: true, syscall.EDQUOT: true,
		syscall.ENOENT: false, syscall.EACCES: false, syscall.E2BIG: false,
	} {
		if got := lacking(startError([]string{"sh"}, fmt.Errorf("fork: %w", err))); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	if lacking(nil) {
		t.Error("nothing lacks")
	}
}

// An attempt that waits for long says why once.
func TestWaiterSaysWhyOnce(t *testing.T) {
	run := newRun(t)
	w := &waiter{ctx: t.Context(), run: run, began: time.Now()}
	for _, why := range []string{"no room", "no room", "no memory", "no memory"} {
		w.hint(why)
	}
	if got := run.hinted(); got != "no room\nno memory" {
		t.Error(got)
	}
}

// An empty command is an error of its trial.
func TestEmptyCommand(t *testing.T) {
	p, err := newProgram([]byte(`{"command": ["{flags}"], "parameters": []}`))
	if err != nil {
		t.Fatal(err)
	}
	if args, err := p.arguments(params{}, ""); err == nil {
		t.Errorf("it is %q", args)
	}
}
