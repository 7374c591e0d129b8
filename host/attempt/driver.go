// Package attempt drives trials: it takes the core's actions about attempts, has
// trainables (host/plugin) carry them out, and posts the results to the inbox. A host
// has one Driver.
//
// Package host/attempt/life decides what an attempt does next. The driver sends it events, and
// carries out the actions that it returns (carrying.go).
//
// One goroutine takes the core's actions (Run), one goroutine listens to each process, and each
// task that takes long, such as a checkpoint, has its own goroutine. One lock guards the data
// that they share.
package attempt

import (
	"context"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/queue"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/diskspace"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// Options configure a Driver.
type Options struct {
	Name string // of the trainable
	// Open starts a process at a place and opens the trainable in it.
	Open   func(ctx context.Context, at exec.Place) (plugin.Trainer, error)
	Shared bool // one process for all trials
	Leases
	// Programs says that trials are programs, which the process itself kills when their
	// grace is over.
	Programs bool
	// Reuse keeps processes for later trials with the same request. Processes with GPUs
	// are kept only if GPUs is set too (B-111).
	Reuse, GPUs bool
	// Begin is the time in which a process must say that a trial has started; 0: no limit.
	// If there is a limit, a reused process has at most resetLimit.
	Begin    time.Duration
	Grace    time.Duration
	Deadline time.Duration // of silence; 0: none
	Metrics  []string      // existing names

	Inbox   *inbox.Inbox
	Log     *hostlog.Log
	Clock   clock.Clock
	Storage storage.Dir
	Disk    *diskspace.Disk
	Memory  *storage.Memory // for states of paused trials; nil: none is used
	// Checkpoints moves checkpoints; nil: trials share the host's file system.
	Checkpoints Checkpoints
	// Saved is called with the folder of each complete checkpoint and export.
	Saved func(dir string)
	// Fail ends the host because no trial can run.
	Fail func(error)
}

// Leases are the options of a driver whose trials run on other machines. The zero value is for this machine.
type Leases struct {
	// Apart says that leases are on other machines: a process on one lease cannot serve another lease.
	Apart bool
	// Noticed reports whether the engine takes away the lease of a place with so many bundles, as far as the agents
	// there have heard within a time; nil: there are no agents.
	Noticed func(ctx context.Context, at exec.Place, bundles int, within time.Duration) (bool, error)
	// GiveUp gives a lease back on which nothing can start, and says why; nil: leases are not given up.
	GiveUp func(lease core.LeaseID, why string)
}

// Driver runs trials in processes of the trainable: in one process for all of them, or in one
// for each, which is reused where the trainable allows it (B-110).
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
	// common are the processes that trials share: one, or one for each lease.
	common map[core.LeaseID]*worker
	// exporting has the runs whose end is posted when their models are made.
	exporting map[core.TrialNo]*run
	// departed has the last run that has ended on each lease. A checkpoint that its program made by itself is fetched
	// from that machine when the core decides to keep it.
	departed map[core.LeaseID]*run
	// doubtful are the ends that wait for events of their leases, see doubting.go.
	doubtful map[core.TrialNo]*doubtful
	unable   unable
	lastRun  uint64
	names    map[string]bool // of metrics
	saving   saves
	leaving  sync.WaitGroup // processes that are being closed

	listening sync.WaitGroup // to processes, whose last events may begin and end saves
}

// New returns a driver. Run starts it.
func New(o Options) *Driver {
	t := &Driver{Options: o, work: queue.New[Work](), done: make(chan struct{}), ending: make(chan struct{}),
		runs: map[core.TrialNo]*run{}, workers: map[*worker]bool{}, common: map[core.LeaseID]*worker{},
		exporting: map[core.TrialNo]*run{}, departed: map[core.LeaseID]*run{},
		doubtful: map[core.TrialNo]*doubtful{}, names: map[string]bool{},
		saving: saves{turns: turns{last: map[core.TrialNo]chan struct{}{}}}}
	if t.Checkpoints == nil {
		t.Checkpoints = SharedFiles{Storage: o.Storage}
	}
	for _, name := range o.Metrics {
		t.names[name] = true
	}
	return t
}

// Work is an action, with details of its trial.
type Work struct {
	Action core.Action
	Trial  *sdk.Trial // StartAttempt
	Dir    string
	Params []byte // written to the trial's directory
	// Checkpoint is the folder of the checkpoint that the attempt continues from, or "".
	Checkpoint string
	// Recorded is, instead of an action, an attempt with one more result in the record.
	Recorded Recorded
}

// Recorded is an attempt with one more result in the record. Attempts count from 1.
type Recorded struct {
	Trial   core.TrialNo
	Attempt uint32
	Done    bool // it is the last result
	Saves   bool // the trainable is asked for a checkpoint of it
}

// worker is a process of the trainable.
type worker struct {
	trainer plugin.Trainer
	runs    map[uint64]*run
	out     []train.Command
	place   exec.Place
	request string         // shape of what its trials were granted; "": none yet
	rate    untrusted.Rate // of lines for the log
	doomed  bool           // it is killed for one of its runs
	lost    error          // why it is gone
}

// run is one attempt, with its process and its files.
type run struct {
	*life.Life
	number uint64
	dir    string
	worker *worker // nil until its process has started
	// restart starts a fresh process for it.
	restart func()
	// cancelStart cancels the copy of its checkpoint, or the start of its process; nil: there is none.
	cancelStart context.CancelFunc
	start       *sdk.Trial
	place       exec.Place
	beginning
	from core.CheckpointRef // that it continues from
	held bool               // from is in memory
	// checkpoint is the folder of from. The run gets a copy.
	checkpoint string
	late       []func() bool // stop the timers of watchBegin
	timer      func() bool   // stops the current wait; nil: there is none
	armed      uint64        // the number of the current wait
	heard      time.Time
	over       chan struct{} // closed when no more events of it can come
	undecided
	last withheld
	hint string // the last one of its trainable: if it reports nothing, it says why
}

// beginning is when and whether a run has begun.
type beginning struct {
	began time.Time // when it got its process
	begun bool      // its program runs, or ran
}

// undecided is what a run waits for.
type undecided struct {
	awaited uint64 // the last result that waits for a decision; it waits from the time since on
	since   time.Time
	watched bool // a timer for the decision is running
	// saveFirst: the last result is answered once its checkpoint is saved.
	saveFirst bool
	staging
}

// withheld are the events of a run that has ended, while the rest of its output is awaited.
type withheld struct {
	waits  bool
	events []core.Event
}

// Put adds work, which waits for Flush.
func (t *Driver) Put(w Work) { t.work.Put(w) }

// Flush starts all work that was put.
func (t *Driver) Flush() { t.work.Flush() }

// Run carries out work until Close.
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
	if x := w.Recorded; x.Attempt > 0 {
		t.with(x.Trial, x.Attempt, func(r *run) { r.recorded(x) })
		return
	}
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
		t.stopWaitsNoMore(a)
		t.with(a.Trial, a.Attempt, func(r *run) { t.apply(r, life.Kill{}) })
	case core.DropState:
		t.drop(a)
	case core.ReleaseLease:
		t.release(a.Lease)
	}
}

// send sends the queued commands of every process.
func (t *Driver) send() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for w := range t.workers {
		w.send()
	}
}

// send sends the queued commands.
func (w *worker) send() {
	if len(w.out) > 0 {
		_ = w.trainer.Send(w.out) // a failed process says so on its own stream
		w.out = nil
	}
}

// with calls f with the attempt's run under the lock. It returns false if the run is over.
func (t *Driver) with(no core.TrialNo, attempt uint32, f func(*run)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[no]
	if r == nil || r.Attempt != attempt {
		return false
	}
	f(r)
	return true
}

// recorded counts a result in the record. The core answers all results except the last one and those that meet a
// stop. A trainable ends when it has the answer to its last result, so the checkpoint of that result comes first.
func (r *run) recorded(x Recorded) {
	r.Recorded()
	switch {
	case x.Done && x.Saves:
		r.saveFirst = true
	case x.Done || r.StopSent():
		r.credit(r.Confirm())
	}
}

// saveOver answers the last result, which has waited for its checkpoint.
func (r *run) saveOver() {
	if r.saveFirst && r.worker != nil {
		r.saveFirst = false
		r.credit(r.Confirm())
		r.worker.send()
	}
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

// Leave is called when the host is told to end. A trial has a limited time to end. If a save still waits for room
// on the disk when that time is over, the host fails: its trials then continue from their last checkpoints, and
// nobody has to make room before the host ends. A save that makes no progress for so long is given up.
func (t *Driver) Leave() {
	t.Clock.AfterFunc(t.Grace, t.failWithoutRoom)
	t.saving.leave(t.Grace, func(f func()) { t.Clock.AfterFunc(max(t.Grace, leastStill), f) })
}

func (t *Driver) failWithoutRoom() {
	select {
	case <-t.ending:
		return
	default:
	}
	if err := t.Disk.Unmet(); err != nil {
		t.Fail(err)
		return
	}
	t.Clock.AfterFunc(time.Second, t.failWithoutRoom) // what ends later may wait, too
}

// Close ends every process, and kills the runs that are left.
func (t *Driver) Close() {
	t.work.Close()
	<-t.done
	close(t.ending)
	t.Checkpoints.Close()
	t.mu.Lock()
	t.closed = true
	for _, r := range t.runs {
		t.apply(r, life.HostClosing{})
	}
	var gone sync.WaitGroup
	for w := range t.workers {
		gone.Go(func() { _ = w.trainer.Close() })
	}
	t.mu.Unlock()
	gone.Wait()
	t.leaving.Wait()
	t.listening.Wait()
	t.saving.Wait()
	t.dropAll()
}
