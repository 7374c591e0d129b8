// Package training drives trials: it takes the core's actions about attempts, has
// them carried out by trainables (host/plugin), and posts what comes of it to the
// inbox. The host makes one Driver of it; nobody else needs one.
//
// One goroutine does what it is told (Run), one listens to each process, and what
// takes long, checkpoints above all, has one of its own. What they share is behind
// one lock.
package training

import (
	"context"
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

// Options are what a driver works with.
type Options struct {
	Name string // of the trainable
	// Open starts a process that may use these devices.
	Open   func(ctx context.Context, devices []string) (plugin.Trainer, error)
	Shared bool // one process for all trials
	// Programs: trials are programs, which the process kills by itself when their
	// grace is over.
	Programs bool
	// Reuse keeps processes for the next trial that asks for the same; with
	// GPUs only where GPUs is set, too (B-111).
	Reuse, GPUs bool
	// Begin is how long a process may take to say that a trial has started; 0: as
	// long as it likes. Where there is a limit, one that has run a trial has at most
	// resetLimit.
	Begin    time.Duration
	Grace    time.Duration
	Deadline time.Duration // of silence; 0: none
	Metrics  []string      // names that there are already

	Inbox   *inbox.Inbox
	Log     *hostlog.Log
	Clock   clock.Clock
	Storage storage.Dir
	Disk    *diskspace.Disk
	Memory  *storage.Memory // for states of paused trials; nil: none is used
	// Saved hears of each checkpoint and export that is whole, by its folder.
	Saved func(dir string)
	// Fail ends the host: no trial can be run.
	Fail func(error)
}

// Driver runs trials in trainables' processes: in one that all share, or in
// one for each, kept warm for the next where the trainable allows it (B-110).
type Driver struct {
	Options
	work   *queue.Queue[Work]
	done   chan struct{}
	ending chan struct{} // closed when the host ends

	turn    sync.Mutex // of starting the process that all share once more
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
	turns     turns
	leaving   sync.WaitGroup // processes that were let go
}

// New is a driver that Run sets going.
func New(o Options) *Driver {
	t := &Driver{Options: o, work: queue.New[Work](), done: make(chan struct{}), ending: make(chan struct{}),
		runs: map[core.TrialNo]*run{}, workers: map[*worker]bool{}, exporting: map[core.TrialNo]*run{}, names: map[string]bool{},
		turns: turns{last: map[core.TrialNo]chan struct{}{}}}
	for _, name := range o.Metrics {
		t.names[name] = true
	}
	return t
}

// Work is an action, with what the loop alone knows of its trial.
type Work struct {
	Action core.Action
	Trial  *sdk.Trial // StartAttempt
	Dir    string
	Params []byte // written to the trial's directory
	// Checkpoint is the one that the attempt goes on from, if it does.
	Checkpoint string
}

// worker is a process of the trainable.
type worker struct {
	trainer plugin.Trainer
	runs    map[uint64]*run
	out     []train.Command
	devices []string
	request string         // shape of what its trials were granted; "": none yet
	rate    untrusted.Rate // of lines for the log
	doomed  bool           // it is killed for one of its runs
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
	anew func()
	// unlaunch ends the start of its process; nil: none is under way.
	unlaunch context.CancelFunc
	warm     bool
	begun    bool          // the trainable has said so
	waiting  bool          // the trainable has said that it cannot begin yet
	late     []func() bool // stop the timers of watchBegin
	start    *sdk.Trial
	from     core.CheckpointRef // that it goes on from
	held     bool               // that is in memory
	// checkpoint is where that is; the run is given a copy of it.
	checkpoint string
	saves      []pendingSave
	exports    exports
	pausing    bool           // told to stop, and to go on later
	stop       *train.Command // told before it had a process
	timer      func() bool
	killed     bool
	overdue    bool // a process that kills programs is given a last moment
	heard      time.Time
	end        *core.AttemptEnded // why it was killed

	Reports
	nonsense core.Cause // why it is failed
}

// Put adds work without having it done; Flush does.
func (t *Driver) Put(w Work) { t.work.Put(w) }

// Flush has all work done that was put.
func (t *Driver) Flush() { t.work.Flush() }

// Run does what it is told, until Close.
func (t *Driver) Run(ctx context.Context) {
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

func (t *Driver) do(ctx context.Context, w Work) {
	switch a := w.Action.(type) {
	case core.StartAttempt:
		t.begin(ctx, a, w)
	case core.ContinueAttempt:
		t.with(a.Trial, a.Attempt, func(r *run) { r.credit(r.Grant(a.Credits)) })
	case core.RunAhead:
		t.with(a.Trial, a.Attempt, t.awaitDecision)
	case core.SaveAttempt:
		t.save(a, w.Dir)
	case core.TakeCheckpoint:
		t.take(a, w.Dir)
	case core.StopAttempt:
		t.stopRun(a, w.Dir)
	case core.KillAttempt:
		t.killRun(a)
	case core.DropState:
		t.drop(a)
	}
}

// send hands over what has gathered for each process.
func (t *Driver) send() {
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
func (t *Driver) with(no core.TrialNo, attempt uint32, f func(*run)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[no]
	if r == nil || r.attempt != attempt {
		return false
	}
	f(r)
	return true
}

func (r *run) credit(n uint32) {
	if n > 0 {
		r.tell(train.Command{Kind: train.Continue, Credits: n})
	}
}

func (r *run) tell(c train.Command) {
	c.Run = r.number
	if r.worker != nil {
		r.worker.out = append(r.worker.out, c)
	}
}

// Close ends every process; what still runs is killed.
func (t *Driver) Close() {
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
