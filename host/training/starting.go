package training

import (
	"context"
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

func (t *Driver) begin(ctx context.Context, a core.StartAttempt, w Work) {
	r := &run{checkpoint: w.Checkpoint, trial: a.Trial, attempt: a.Attempt, dir: w.Dir, start: w.Trial, from: a.Restore, held: a.Memory,
		heard: t.Clock.Now(), Reports: NewReports(w.Trial.Iteration)}
	t.mu.Lock()
	t.runs[a.Trial] = r
	t.mu.Unlock()
	if err := t.Storage.MakeTrialDir(r.dir, w.Params); diskspace.IsFull(err) || err == nil && r.from.ID != 0 {
		t.saving.Go(func() { t.house(ctx, r, w.Params) })
	} else {
		t.place(ctx, r, err)
	}
}

// house makes the run's directory, with a copy of the checkpoint that it goes on
// from; it waits until there is room, or the run is stopped.
func (t *Driver) house(ctx context.Context, r *run, params []byte) {
	err := t.whenRoom(func() error {
		if t.stopped(r) {
			return errStopped
		}
		if err := t.Storage.MakeTrialDir(r.dir, params); err != nil {
			return err
		}
		return t.fetch(r)
	})
	t.place(ctx, r, err)
	t.send()
}

// errStopped: the run was told to stop before it had begun.
var errStopped = errors.New("it was stopped")

func (t *Driver) stopped(r *run) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return r.stop != nil
}

// place finds a process for the run; err is what came of making its directory.
func (t *Driver) place(ctx context.Context, r *run, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var unusable *storage.UnusableError
	switch {
	case t.closed:
		return
	case r.stop != nil:
		t.endRun(r, &core.AttemptEnded{})
		return
	case errors.As(err, &unusable): // it is no trial's fault, and each would fail
		t.Fail(fmt.Errorf("no trial can be started, and everything is stopped: %w", err))
		return
	case err != nil:
		t.endRun(r, unhoused(err))
		return
	}
	r.anew = func() { t.launch(ctx, r) }
	if warm := t.warm(r.start); warm != nil {
		r.warm = !t.Shared
		t.assign(r, warm)
		return
	}
	go t.launch(ctx, r)
}

// launch starts a process for the run. A run that is told to stop before its process
// is there has none: what it would have to do, it has not begun.
func (t *Driver) launch(ctx context.Context, r *run) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !t.launching(r, cancel) {
		return
	}
	var trainer plugin.Trainer
	err := t.whenRoom(func() (err error) { // also for another process
		trainer, err = t.Open(ctx, r.start.Devices)
		return err
	})
	if err != nil {
		t.unlaunched(r, err)
		return
	}
	w := t.adopt(trainer, r.start.Devices)
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		_ = trainer.Close()
		return
	}
	t.assign(r, w)
	t.mu.Unlock()
	t.send()
}

// launching notes how the start can be ended, unless the run was told to stop.
func (t *Driver) launching(r *run, cancel context.CancelFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.stop != nil {
		t.endRun(r, &core.AttemptEnded{})
		return false
	}
	r.unlaunch = cancel
	return true
}

// unlaunched ends a run whose process did not start.
func (t *Driver) unlaunched(r *run, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := &core.AttemptEnded{Cause: core.TrainableFailure(err.Error()),
		NeverStarted: plugin.FailureOf(err) == plugin.NotStarted}
	if r.stop != nil {
		end = &core.AttemptEnded{} // it was told to stop meanwhile
	}
	t.endRun(r, end)
}

// adopt takes a process in and listens to it.
func (t *Driver) adopt(trainer plugin.Trainer, devices []string) *worker {
	w := &worker{trainer: trainer, runs: map[uint64]*run{}, devices: devices}
	t.mu.Lock()
	t.workers[w] = true
	if t.Shared {
		t.common = w
	}
	t.mu.Unlock()
	go t.listen(w)
	return w
}

// KeepWarm takes in a process that was opened before the first trial.
func (t *Driver) KeepWarm(trainer plugin.Trainer) {
	w := t.adopt(trainer, nil)
	if !t.Shared {
		t.mu.Lock()
		t.idle = append(t.idle, w)
		t.mu.Unlock()
	}
}

func (t *Driver) assign(r *run, w *worker) {
	t.lastRun++
	r.number, r.worker = t.lastRun, w
	w.runs[r.number] = r
	t.watchBegin(r)
	w.request = shape(r.start)
	r.tell(train.Command{Kind: train.Start, Trial: r.start})
	if r.stop != nil {
		r.tell(*r.stop)
	}
	t.watch(r)
}
