package attempt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/diskspace"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func (t *Driver) begin(ctx context.Context, a core.StartAttempt, w Work) {
	l := life.New(life.Options{Trial: a.Trial, Attempt: a.Attempt, After: w.Trial.Iteration, Programs: t.Programs,
		Export: w.Trial.Export})
	r := &run{Life: l, checkpoint: w.Checkpoint, dir: w.Dir, start: w.Trial, place: placeOf(a, w.Trial),
		from: a.Restore, held: a.Memory, heard: t.Clock.Now(), over: make(chan struct{})}
	r.restart = func() { t.launch(ctx, r) }
	t.mu.Lock()
	earlier := t.runs[a.Trial]
	t.runs[a.Trial] = r
	t.mu.Unlock()
	if earlier != nil {
		t.saving.Go(func() { t.succeed(r, earlier, w.Params) })
		return
	}
	err := t.makeDir(r, w.Params)
	if diskspace.IsFull(err) || err == nil && (r.from.ID != 0 || t.Apart) {
		t.saving.Go(func() { t.prepareDir(r, w.Params) })
	} else {
		t.dirDone(r, err)
	}
}

// succeed begins a run once an earlier run of the same trial is over. The two share a directory,
// and a run whose lease was lost may still be ending.
func (t *Driver) succeed(r, earlier *run, params []byte) {
	select {
	case <-earlier.over:
		t.prepareDir(r, params)
	case <-t.ending:
	}
}

// placeOf returns where an attempt runs.
func placeOf(a core.StartAttempt, x *sdk.Trial) exec.Place {
	p := exec.Place{Lease: a.Lease, Devices: x.Devices}
	if len(x.Bundles) > 0 {
		p.Node = x.Bundles[0].Node
	}
	return p
}

// prepareDir makes the run's directory, with a copy of the checkpoint that it continues from.
// It waits until there is room or the run is stopped.
func (t *Driver) prepareDir(r *run, params []byte) {
	t.makeWay(r)
	s, over := t.fetching(r)
	defer over()
	err := t.whenRoom(func() error {
		if t.canceled(r) {
			return errStopped
		}
		if err := t.makeDir(r, params); err != nil {
			return err
		}
		if err := t.Checkpoints.Prepare(r.place, r.start); err != nil {
			return err
		}
		return t.fetch(r, s)
	})
	t.dirDone(r, err)
	t.send()
}

// makeDir makes the run's directory. Its program removes and makes files where its models go.
func (t *Driver) makeDir(r *run, params []byte) error {
	err := t.Storage.MakeTrialDir(r.dir, params)
	if err == nil && len(r.start.Export) > 0 {
		err = storage.CheckExports(r.dir)
	}
	return err
}

// errStopped says that the run was told to stop before it had begun.
var errStopped = errors.New("it was stopped")

func (t *Driver) canceled(r *run) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return r.State() == life.Canceled
}

// dirDone continues with a run whose directory was made, or could not be made.
func (t *Driver) dirDone(r *run, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var unusable *storage.UnusableError
	switch {
	case t.closed:
	case err == nil:
		t.apply(r, life.DirReady{})
	case r.State() == life.Canceled:
		t.apply(r, life.DirFailed{})
	case errors.As(err, &unusable): // it is not the trial's fault, and every trial would fail
		t.Fail(fmt.Errorf("no trial can be started, and everything is stopped: %w", err))
	default:
		t.apply(r, life.DirFailed{End: dirFailed(err)})
	}
}

// findProcess assigns the run to an idle process, or starts another.
func (t *Driver) findProcess(r *run) {
	if warm := t.warm(r); warm != nil {
		t.assign(r, warm, !t.Shared)
		return
	}
	go r.restart()
}

// launch starts a process for the run, unless the run was told to stop.
func (t *Driver) launch(ctx context.Context, r *run) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !t.launching(r, cancel) {
		return
	}
	var trainer plugin.Trainer
	err := t.whenRoom(func() (err error) { // also room for one more process
		trainer, err = t.open(ctx, r.place)
		return err
	})
	if err != nil {
		failure := plugin.FailureOf(err)
		t.lockAndApply(r, life.LaunchFailed{Error: err.Error(), NeverStarted: failure == plugin.NotStarted,
			Unreachable: failure == plugin.Unreachable})
		return
	}
	w := t.adopt(trainer, r.place)
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		_ = trainer.Close()
		return
	}
	t.assign(r, w, false)
	t.mu.Unlock()
	t.send()
}

// The times after which a process is started again on a node that could not be reached.
const (
	firstReopen = 100 * time.Millisecond
	lastReopen  = 30 * time.Second
	maxReopens  = 10
)

// open starts a process at a place. If the node cannot be reached, open tries again until the node comes
// back, or until its lease is lost and the context ends.
func (t *Driver) open(ctx context.Context, at exec.Place) (trainer plugin.Trainer, err error) {
	wait := firstReopen
	for range maxReopens {
		trainer, err = t.Open(ctx, at)
		if plugin.FailureOf(err) != plugin.Unreachable || errors.Is(err, exec.ErrLeaseOver) || !t.pause(ctx, wait) {
			break
		}
		wait = min(2*wait, lastReopen)
	}
	return trainer, err
}

// pause waits, and reports whether the context has not ended.
func (t *Driver) pause(ctx context.Context, wait time.Duration) bool {
	over := make(chan struct{})
	stop := t.Clock.AfterFunc(wait, func() { close(over) })
	defer stop()
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return false
	case <-t.ending:
		return false
	}
}

// launching keeps cancel, which ends the start of the process. It returns false if the run was
// told to stop.
func (t *Driver) launching(r *run, cancel context.CancelFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.State() == life.Canceled {
		t.apply(r, life.LaunchFailed{})
		return false
	}
	r.cancelStart = cancel
	return true
}

func (r *run) cancelLaunch() {
	if r.cancelStart != nil {
		r.cancelStart()
	}
}

// adopt adds a process and listens to it.
func (t *Driver) adopt(trainer plugin.Trainer, at exec.Place) *worker {
	w := &worker{trainer: trainer, runs: map[uint64]*run{}, place: at}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.workers[w] = true
	if t.Shared {
		t.common[t.group(at)] = w
	}
	if !t.closed {
		t.listening.Go(func() { t.listen(w) })
	}
	return w
}

// KeepWarm adds a process that was opened before the first trial.
func (t *Driver) KeepWarm(trainer plugin.Trainer) {
	w := t.adopt(trainer, exec.Place{})
	if !t.Shared {
		t.mu.Lock()
		t.idle = append(t.idle, w)
		t.mu.Unlock()
	}
}

// assign gives the run to a process. Warm says that the process was started for another run.
func (t *Driver) assign(r *run, w *worker, warm bool) {
	t.lastRun++
	r.number, r.worker, r.began = t.lastRun, w, t.Clock.Now()
	w.runs[r.number] = r
	t.apply(r, life.Assigned{Warm: warm})
	w.request = shape(r.start)
	t.watch(r)
}
