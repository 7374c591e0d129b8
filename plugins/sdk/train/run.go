package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A run is one attempt of one trial, which the author's code sees as [sdk.Run].
type run struct {
	s     *Session
	id    uint64
	trial sdk.Trial
	// confirms says that the host gives a credit for each recorded result.
	confirms bool
	ctx      context.Context
	cancel   context.CancelFunc
	wake     chan struct{} // holds a token when there is a new command
	halt     chan struct{} // closed when the run was told to stop

	mu      sync.Mutex // guards the host's commands
	granted uint64
	asked   []string // directories to save to, oldest first
	stop    bool
	told    bool // the host has told it to stop, not only killed it
	paused  bool // it will continue later
	stopDir string
	killed  bool

	begin sync.Once
	held  sync.Once

	// Only the training goroutine uses these.
	progress
	exporter
}

// exporter makes the models of a run. It is empty if the author's code makes none.
type exporter struct {
	export func(format, dir string) error
	place  string // the trial's ExportDir, without links
}

// progress is what a run has reported.
type progress struct {
	reported  uint64 // results
	iteration uint64
	done      bool         // the last result was reported
	ended     bool         // Report has said that the run must end
	final     int          // results sent after the order to stop
	skipped   []sdk.Result // after the order to pause; sent if a checkpoint follows
}

func newRun(s *Session, id uint64, trial sdk.Trial) *run {
	ctx, cancel := context.WithCancel(s.ctx)
	return &run{
		s: s, id: id, trial: trial, progress: progress{iteration: trial.Iteration},
		ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1), halt: make(chan struct{}),
	}
}

// order records a command of the host and wakes Report.
func (r *run) order(c *Command) {
	r.mu.Lock()
	switch c.Kind {
	case Continue:
		r.grant(c.Credits)
	case Save:
		r.asked = append(r.asked, c.Dir)
	case Stop:
		r.grant(c.Credits)
		r.paused, r.told = c.Paused, true
		r.halted(c.Dir)
	case Kill:
		r.killed = true
		r.cancel()
		r.halted("")
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// grant needs r.mu.
func (r *run) grant(credits uint32) { r.granted += min(uint64(credits), math.MaxUint64-r.granted) }

// halted needs r.mu.
func (r *run) halted(dir string) {
	if !r.stop {
		close(r.halt)
	}
	r.stop, r.stopDir = true, dir
}

// Stopped implements sdk.Stopper.
func (r *run) Stopped() <-chan struct{} { return r.halt }

// Paused implements sdk.Pauser.
func (r *run) Paused() bool { return errors.Is(r.stopError(), sdk.ErrPaused) }

// stopError returns the error of Report for a run that must end.
func (r *run) stopError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.paused:
		return sdk.ErrPaused
	case !r.told && r.ctx.Err() != nil:
		return sdk.ErrKilled
	}
	return sdk.ErrStopped
}

// Trial implements sdk.Run.
func (r *run) Trial() sdk.Trial { return r.trial }

// Log implements sdk.Run.
func (r *run) Log(line string) { r.s.out.Push(Event{Kind: Log, Run: r.id, Text: cut(line)}) }

// Hint implements sdk.Hinter.
func (r *run) Hint(text string) {
	r.s.out.Push(Event{Kind: Log, Run: r.id, Text: cut(text), Hint: true})
}

// Started implements sdk.Starter.
func (r *run) Started(pid int) {
	r.begin.Do(func() { r.s.out.Push(Event{Kind: Started, Run: r.id, PID: uint32(pid)}) })
}

// Waiting implements sdk.Waiter. The host is told once.
func (r *run) Waiting() {
	r.held.Do(func() { r.s.out.Push(Event{Kind: Started, Run: r.id, Waiting: true}) })
}

// Reject implements sdk.Rejecter.
func (r *run) Reject(text string) { r.s.out.Push(Event{Kind: Rejected, Run: r.id, Text: cut(text)}) }

// maxText limits a line or an error in bytes, so that no message exceeds the host's limit.
const maxText = 64 << 10

func cut(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + " [cut]"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Report implements sdk.Run.
func (r *run) Report(res sdk.Result, save func(dir string) error) error {
	err := r.report(res, save)
	r.ended = r.ended || err != nil
	return err
}

func (r *run) report(res sdk.Result, save func(dir string) error) error {
	if r.mustEnd() && !r.meetsPause() {
		r.reportLast(res)
		return r.awaitRecord()
	}
	r.tell(&res)
	due := r.due(res, save != nil)
	if res.Done && !due {
		return nil // the last result needs no decision
	}
	for {
		switch r.execute(due, save) {
		case stopped:
			return r.stopError()
		case continues:
			return nil
		case saved:
			if res.Done {
				return nil
			}
			continue // commands may have arrived meanwhile
		}
		select {
		case <-r.wake:
		case <-r.ctx.Done():
			return r.awaitRecord()
		}
	}
}

// meetsPause reports whether a result meets an order to pause that the author's code has not heard of. It is like one
// that was sent just before: it counts, so its answer follows its record.
func (r *run) meetsPause() bool {
	return r.confirms && !r.ended && r.ctx.Err() == nil && r.Paused()
}

// Recorded implements sdk.Confirmer.
func (r *run) Recorded() error {
	if !r.confirms {
		return nil
	}
	for !r.confirmed() {
		select {
		case <-r.wake:
		case <-r.ctx.Done():
			if !r.confirmed() {
				return sdk.ErrKilled
			}
		}
	}
	return nil
}

// confirmed reports whether the results so far are recorded.
func (r *run) confirmed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reported <= r.granted
}

// awaitRecord returns the error of Report for a run that must end, once its results are recorded. If they are not, it
// has no answer, whatever the run was told.
func (r *run) awaitRecord() error {
	if err := r.Recorded(); err != nil {
		return err
	}
	return r.stopError()
}

// maxFinal is how many results a run may send after the order to stop.
const maxFinal = 8

// reportLast sends a result after the order to stop if it has a checkpoint. If the run will continue
// later, it will do so from there: the results that were skipped before are sent first, so that the
// record has no gap.
func (r *run) reportLast(res sdk.Result) {
	switch {
	case r.ctx.Err() != nil:
	case res.Checkpoint != "":
		if r.final+len(r.skipped) < maxFinal {
			for i := range r.skipped {
				r.tell(&r.skipped[i])
			}
			r.final += len(r.skipped)
		}
		r.skipped = nil
		r.final++
		r.tell(&res)
	case r.Paused() && len(r.skipped) < maxFinal: // with more, they are not sent
		res.Metrics, res.Values = slices.Clone(res.Metrics), slices.Clone(res.Values)
		r.skipped = append(r.skipped, res)
	}
}

// tell sends a result to the host.
func (r *run) tell(res *sdk.Result) {
	r.count(res.Iteration)
	r.reported++
	r.done = res.Done
	r.s.out.Push(Event{
		// The author may reuse the slice.
		Kind: Result, Run: r.id, Metrics: slices.Clone(res.Metrics), Iteration: res.Iteration,
		Checkpoint: res.Checkpoint, Done: res.Done, Values: slices.Clone(res.Values),
	})
}

// mustEnd reports whether the run must end without another result. A stop that requests a checkpoint
// first allows one more, which is saved.
func (r *run) mustEnd() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ctx.Err() != nil || r.stop && r.stopDir == ""
}

// count follows the host's counting of iterations.
func (r *run) count(iteration uint64) {
	if iteration == 0 {
		iteration = r.iteration + 1
	}
	r.iteration = iteration
}

// due reports whether the host will request a checkpoint of this result before it answers.
func (r *run) due(res sdk.Result, saves bool) bool {
	every := r.trial.CheckpointEvery
	switch {
	case every > 0 && r.iteration%every == 0:
		return !res.Done || r.saves(res, saves)
	case res.Done && r.trial.CheckpointAtEnd:
		return r.saves(res, saves)
	}
	return false
}

// saves reports whether the result can be saved.
func (r *run) saves(res sdk.Result, saves bool) bool {
	return saves && r.s.traits.Saves && res.Checkpoint == ""
}

// executed is the result of executing commands.
type executed uint8

const (
	waiting executed = iota
	saved
	stopped
	continues
)

// execute executes the commands, on the training goroutine.
func (r *run) execute(due bool, save func(string) error) executed {
	ahead := uint64(max(r.trial.RunAhead, 0))
	if due {
		ahead = 0
	}
	r.mu.Lock()
	dirs, stop := r.asked, r.stop
	if stop && r.stopDir != "" {
		dirs = append(dirs, r.stopDir)
	}
	r.asked, r.stopDir = nil, ""
	recorded := r.reported <= r.granted || !r.confirms
	goOn := r.reported <= r.granted || r.reported-r.granted <= ahead
	r.mu.Unlock()
	for _, dir := range dirs {
		r.save(dir, save)
	}
	switch {
	case stop && recorded:
		return stopped
	case len(dirs) > 0:
		return saved
	case goOn && !stop:
		return continues
	}
	return waiting
}

func (r *run) save(dir string, save func(string) error) {
	e := Event{Kind: Saved, Run: r.id, Iteration: r.iteration, Checkpoint: dir}
	if save == nil {
		e.Error = sdk.Unsaved(r.iteration)
	} else if err := r.saved(dir, save); err != nil {
		e.Error = cut(err.Error())
	}
	r.s.out.Push(e)
}

func (r *run) saved(dir string, save func(string) error) (err error) {
	defer r.recovered("panic in save", &err)
	return save(dir)
}

// recovered makes an error of a panic in the author's code, and writes the stack to the trial's log.
func (r *run) recovered(what string, err *error) {
	if v := recover(); v != nil {
		r.Log(fmt.Sprintf("%s: %v\n%s", what, v, debug.Stack()))
		*err = fmt.Errorf("%s: %v", what, v)
	}
}

// call runs the author's code.
func (r *run) call(t sdk.Trainable) (err error) {
	defer r.recovered("panic", &err)
	if _, ok := t.(sdk.Launcher); !ok {
		r.Started(os.Getpid())
	}
	defer r.Started(os.Getpid()) // for a launcher that never reported its start
	err = t.Train(r.ctx, r)
	r.exportAll(err)
	return err
}

// outcome returns the run's last event.
func (r *run) outcome(err error) Event {
	e := Event{Kind: Ended, Run: r.id}
	r.mu.Lock()
	killed := r.killed
	r.mu.Unlock()
	if err == nil || errors.Is(err, sdk.ErrStopped) || killed && errors.Is(err, context.Canceled) {
		return e
	}
	e.Error = cut(err.Error())
	_, e.NeverStarted = errors.AsType[*sdk.StartError](err)
	_, e.RestoreFailed = errors.AsType[*sdk.RestoreError](err)
	return e
}
