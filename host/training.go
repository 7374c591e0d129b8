package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/queue"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// killGrace is how long a trainable that was told that its grace is over has to
// be gone before its process is killed.
const killGrace = 500 * time.Millisecond

// sharedGrace is killGrace for a process that runs other trials too, which do not
// survive it.
const sharedGrace = 20 * time.Second

// training runs trials in trainables' processes: in one that all share, or in
// one for each, kept warm for the next where the trainable allows it (B-110).
type training struct {
	// open starts a process that may use these devices.
	open   func(ctx context.Context, devices []string) (plugin.Trainer, error)
	shared bool
	// reuse keeps processes for the next trial that asks for the same; with
	// GPUs only where gpus is set, too (B-111).
	reuse, gpus bool
	// reset is how long a process that has run a trial may take to begin another.
	reset    time.Duration
	grace    time.Duration
	deadline time.Duration // of silence; 0: none
	inbox    *inbox.Inbox
	log      *hostlog.Log
	clock    clock.Clock
	storage  storage.Dir

	disk   *diskspace.Disk
	remote *remote
	memory *storage.Memory // for states of paused trials; nil: none is used
	// fail ends the host: no trial can be run.
	fail func(error)

	work   *queue.Queue[trainWork]
	done   chan struct{}
	ending chan struct{} // closed when the host ends

	mu      sync.Mutex
	closed  bool
	runs    map[core.TrialNo]*run
	workers map[*worker]bool
	idle    []*worker
	common  *worker
	// exporting are runs that have ended, and whose end waits for their models.
	exporting map[core.TrialNo]*run
	lastRun   uint64
	names     map[string]bool // of metrics
	saving    sync.WaitGroup
	leaving   sync.WaitGroup // processes that were let go
}

// trainWork is an action, with what the loop alone knows of its trial.
type trainWork struct {
	action core.Action
	trial  *sdk.Trial // StartAttempt
	dir    string
	params []byte // written to the trial's directory
	// checkpoint is the one that the attempt goes on from, if it does.
	checkpoint string
}

// worker is a process of the trainable.
type worker struct {
	trainer plugin.Trainer
	runs    map[uint64]*run
	out     []train.Command
	devices []string
	request string         // shape of what its trials were granted; "": none yet
	rate    untrusted.Rate // of lines for the log
}

// run is one attempt.
type run struct {
	trial   core.TrialNo
	attempt uint32
	number  uint64
	dir     string
	worker  *worker // nil until its process has started
	// anew starts a fresh process for it, where its process was warm: not
	// started for it.
	anew  func()
	warm  bool
	begun bool        // the trainable has said so
	late  func() bool // stops the timer of watchReset; nil: there is none
	start *sdk.Trial
	from  core.CheckpointRef // that it goes on from
	held  bool               // that is in memory
	// checkpoint is where that is; the run is given a copy of it.
	checkpoint string
	saves      []pendingSave
	exports    exports
	pausing    bool           // told to stop, and to go on later
	stop       *train.Command // told before it had a process
	timer      func() bool
	killed     bool
	overdue    bool // a shared process is given a last moment
	heard      time.Time
	end        *core.AttemptEnded // why it was killed

	reported  uint64 // results
	granted   uint64 // credits
	iteration uint64 // of the last result, or of the checkpoint it began from
	nonsense  string // why it is failed
}

type pendingSave struct {
	id        uint32
	iteration uint64
	dir       string
	memory    bool
}

func (t *training) run(ctx context.Context) {
	defer close(t.done)
	for {
		items, ok := t.work.Take()
		if !ok {
			return
		}
		for _, w := range items {
			t.do(ctx, w)
		}
		t.send()
	}
}

func (t *training) do(ctx context.Context, w trainWork) {
	switch a := w.action.(type) {
	case core.StartAttempt:
		t.begin(ctx, a, w)
	case core.ContinueAttempt:
		t.with(a.Trial, a.Attempt, func(r *run) {
			r.granted += uint64(a.Credits)
			r.tell(train.Command{Kind: train.Continue, Credits: a.Credits})
		})
	case core.SaveAttempt:
		t.save(a, w.dir)
	case core.TakeCheckpoint:
		t.take(a, w.dir)
	case core.StopAttempt:
		t.stopRun(a, w.dir)
	case core.DropState:
		t.drop(a)
	}
}

// send hands over what has gathered for each process.
func (t *training) send() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for w := range t.workers {
		if len(w.out) > 0 {
			// A failed process says so on its own stream.
			_ = w.trainer.Send(w.out)
			w.out = nil
		}
	}
}

// with calls f with the attempt's run, if it is still there.
func (t *training) with(no core.TrialNo, attempt uint32, f func(*run)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[no]
	if r == nil || r.attempt != attempt {
		return false
	}
	f(r)
	return true
}

func (r *run) tell(c train.Command) {
	c.Run = r.number
	if r.worker != nil {
		r.worker.out = append(r.worker.out, c)
	}
}

func (t *training) begin(ctx context.Context, a core.StartAttempt, w trainWork) {
	r := &run{checkpoint: w.checkpoint, trial: a.Trial, attempt: a.Attempt, dir: w.dir, start: w.trial, from: a.Restore, held: a.Memory, iteration: w.trial.Iteration, heard: t.clock.Now()}
	t.mu.Lock()
	t.runs[a.Trial] = r
	t.mu.Unlock()
	if err := t.storage.MakeTrialDir(r.dir, w.params); diskspace.IsFull(err) || err == nil && r.from.ID != 0 {
		t.saving.Go(func() { t.house(ctx, r, w.params) })
	} else {
		t.place(ctx, r, err)
	}
}

// house makes the run's directory, with a copy of the checkpoint that it goes on
// from; it waits until there is room, or the run is stopped.
func (t *training) house(ctx context.Context, r *run, params []byte) {
	err := t.whenRoom(func() error {
		if t.stopped(r) {
			return errStopped
		}
		if err := t.storage.MakeTrialDir(r.dir, params); err != nil {
			return err
		}
		return t.fetch(r)
	})
	t.place(ctx, r, err)
	t.send()
}

// errStopped: the run was told to stop before it had begun.
var errStopped = errors.New("it was stopped")

func (t *training) stopped(r *run) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return r.stop != nil
}

// place finds a process for the run; err is what came of making its directory.
func (t *training) place(ctx context.Context, r *run, err error) {
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
		t.fail(fmt.Errorf("no trial can be started, and everything is stopped: %w", err))
		return
	case err != nil:
		t.endRun(r, unhoused(err))
		return
	}
	r.anew = func() { t.launch(ctx, r) }
	if warm := t.warm(r.start); warm != nil {
		r.warm = !t.shared
		t.assign(r, warm)
		return
	}
	go t.launch(ctx, r)
}

// launch starts a process for the run.
func (t *training) launch(ctx context.Context, r *run) {
	trainer, err := t.open(ctx, r.start.Devices)
	if err != nil {
		t.over(r, &core.AttemptEnded{Error: err.Error(), NeverStarted: plugin.FailureOf(err) == plugin.NotStarted})
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

// adopt takes a process in and listens to it.
func (t *training) adopt(trainer plugin.Trainer, devices []string) *worker {
	w := &worker{trainer: trainer, runs: map[uint64]*run{}, devices: devices}
	t.mu.Lock()
	t.workers[w] = true
	if t.shared {
		t.common = w
	}
	t.mu.Unlock()
	go t.listen(w)
	return w
}

// keepWarm takes in a process that was opened before the first trial.
func (t *training) keepWarm(trainer plugin.Trainer) {
	w := t.adopt(trainer, nil)
	if !t.shared {
		t.mu.Lock()
		t.idle = append(t.idle, w)
		t.mu.Unlock()
	}
}

func (t *training) assign(r *run, w *worker) {
	t.lastRun++
	r.number, r.worker = t.lastRun, w
	w.runs[r.number] = r
	if w.request != "" {
		t.watchReset(r)
	}
	w.request = shape(r.start)
	r.tell(train.Command{Kind: train.Start, Trial: r.start})
	if r.stop != nil {
		r.tell(*r.stop)
	}
	t.watch(r)
}

// watch fails a run that is silent for too long.
func (t *training) watch(r *run) {
	if t.deadline == 0 {
		return
	}
	t.clock.AfterFunc(t.deadline-t.clock.Since(r.heard), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch {
		case t.runs[r.trial] != r || r.worker == nil:
		case t.clock.Since(r.heard) < t.deadline:
			t.watch(r)
		default:
			t.hung(r)
		}
	})
}

func (t *training) hung(r *run) {
	t.destroy(r, &core.AttemptEnded{Error: fmt.Sprintf("it was silent for %v, its deadline, and was killed", t.deadline)})
}

// destroy kills a run's process. When that is gone, its listener tells of the
// run's end, and that it was this one.
func (t *training) destroy(r *run, end *core.AttemptEnded) {
	r.end = end
	r.worker.trainer.Kill()
}

func (t *training) save(a core.SaveAttempt, dir string) {
	t.ask(a.Trial, a.Attempt, pendingSave{id: a.ID, iteration: a.Iteration}, train.Save, dir)
}

// ask orders a save; one that cannot be made is reported as failed.
func (t *training) ask(no core.TrialNo, attempt uint32, s pendingSave, kind train.CommandKind, dir string) {
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

// take keeps a checkpoint that the trainable has made by itself.
func (t *training) take(a core.TakeCheckpoint, dir string) {
	m := storage.Manifest{Trial: uint32(a.Trial), Attempt: a.Attempt, Iteration: a.Iteration}
	t.with(a.Trial, a.Attempt, func(r *run) { m.Parent = r.parent() })
	t.commit(dir, a.ID, m, func() error { return storage.Take(dir, a.ID, a.Path) })
}

// commit makes a checkpoint whole, beside everything else (B-051).
func (t *training) commit(dir string, id uint32, m storage.Manifest, prepare func() error) {
	t.saving.Add(1)
	go func() {
		defer t.saving.Done()
		started := t.clock.Now()
		err := t.whenRoom(prepare)
		var bytes int64
		if err == nil {
			err = t.whenRoom(func() (err error) {
				bytes, err = t.storage.Commit(dir, id, m)
				return err
			})
		}
		if err != nil {
			t.cannotSave(core.TrialNo(m.Trial), m.Attempt, id, err)
			return
		}
		t.remote.saved(storage.CheckpointDir(dir, id))
		if d := t.clock.Since(started); d > slowSave {
			t.log.Slow("saving a checkpoint", d)
		}
		t.inbox.Post(&core.CheckpointSaved{Trial: core.TrialNo(m.Trial), Attempt: m.Attempt, ID: id, Iteration: m.Iteration, Bytes: bytes})
	}()
}

const slowSave = 10 * time.Second

// stopRun asks, waits for the grace, and then does not ask any more (B-023).
func (t *training) stopRun(a core.StopAttempt, dir string) {
	stop := train.Command{Kind: train.Stop, Paused: a.Paused}
	var save pendingSave
	if a.SaveID != 0 {
		staged, err := t.stage(a, dir)
		if diskspace.IsFull(err) {
			go t.stopLater(a, dir)
			return
		}
		if err != nil {
			t.cannotSave(a.Trial, a.Attempt, a.SaveID, err)
		} else {
			save, stop.Dir = staged, staged.dir
		}
	}
	there := t.with(a.Trial, a.Attempt, func(r *run) {
		r.pausing = a.Paused
		if stop.Dir != "" {
			r.saves = append(r.saves, save)
		}
		if r.worker == nil {
			r.stop = &stop
		}
		r.tell(stop)
		r.timer = t.clock.AfterFunc(t.grace, func() { t.kill(r) })
	})
	if !there && stop.Dir != "" {
		t.mu.Lock()
		t.unheld(a.Trial, save)
		t.mu.Unlock()
		t.cannotSave(a.Trial, a.Attempt, a.SaveID, nil)
	}
}

// kill is for a run whose grace is over: first its context, then its process.
func (t *training) kill(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs[r.trial] != r {
		return
	}
	if r.worker == nil { // it has only begun to start
		r.timer = t.clock.AfterFunc(t.grace, func() { t.kill(r) })
		return
	}
	_ = r.worker.trainer.Send([]train.Command{{Kind: train.Kill, Run: r.number}})
	r.killed = true
	r.timer = t.clock.AfterFunc(killGrace, func() { t.force(r) })
}

func (t *training) force(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.runs[r.trial] != r:
	case t.shared && !r.overdue: // it kills its programs itself, which takes a moment
		r.overdue = true
		r.timer = t.clock.AfterFunc(sharedGrace, func() { t.force(r) })
	default:
		t.destroy(r, &core.AttemptEnded{})
	}
}

// close ends every process; what still runs is killed.
func (t *training) close() {
	t.work.Close()
	<-t.done
	close(t.ending)
	t.mu.Lock()
	t.closed = true
	var gone sync.WaitGroup
	for w := range t.workers {
		gone.Go(func() { _ = w.trainer.Close() })
	}
	t.mu.Unlock()
	gone.Wait()
	t.leaving.Wait()
	t.saving.Wait()
	t.letGo()
}
