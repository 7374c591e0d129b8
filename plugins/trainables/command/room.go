package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// What the programs of one process share: its file descriptors. Each attempt has logs,
// pipes, a socket with connections, and a descriptor of its process.
const (
	descriptorsOfAttempt = 8
	descriptorsOfWorker  = 5 // each but the first
	descriptorsOfPlugin  = 32
)

// retry is how long an attempt waits that could not be started for want of something,
// unless another ends before.
const retry = time.Second

// room holds attempts back that there are no file descriptors for, or that could not be
// started for want of memory or processes: that is not their fault, and passes when
// others end.
type room struct {
	mu    sync.Mutex
	left  int
	users int
	freed chan struct{} // closed when an attempt ends
}

func newRoom(limit uint64) *room {
	return &room{left: int(min(limit, math.MaxInt32)) - descriptorsOfPlugin, freed: make(chan struct{})}
}

// openFilesLimit is how many descriptors this process may have.
func openFilesLimit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return math.MaxInt32
	}
	return uint64(l.Cur)
}

// take says whether there is room for an attempt that needs n; freed is closed when that
// may have changed. One attempt at a time is always tried.
func (r *room) take(n int) (ok bool, freed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users > 0 && n > r.left {
		return false, r.freed
	}
	r.users++
	r.left -= n
	return true, r.freed
}

func (r *room) giveBack(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users--
	r.left += n
	close(r.freed)
	r.freed = make(chan struct{})
}

// change is closed when an attempt ends from now on.
func (r *room) change() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.freed
}

// shared says whether other attempts are under way, whose end makes room.
func (r *room) shared() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.users > 1
}

// descriptors are what the attempt needs.
func (a *attempt) descriptors() int {
	n := descriptorsOfAttempt
	if a.isGang() {
		n += descriptorsOfWorker * (len(a.trial.Bundles) - 1)
	}
	return n
}

// waiter is an attempt that is held back.
type waiter struct {
	ctx   context.Context
	run   sdk.Run
	began time.Time
	said  string
}

// until waits for a change, and for a moment at most; an error is the end of the attempt.
func (w *waiter) until(freed <-chan struct{}) error {
	moment := time.NewTimer(retry)
	defer moment.Stop()
	if h, ok := w.run.(sdk.Waiter); ok && time.Since(w.began) >= retry {
		h.Waiting() // the host gives up attempts that do not say so (deadlines.begin)
	}
	select {
	case <-w.ctx.Done():
		return stopCause(w.run)
	case <-asked(w.run):
		return stopCause(w.run)
	case <-freed:
	case <-moment.C:
	}
	return nil
}

// untilFreed waits until another attempt has ended, or this one is told to stop.
func (w *waiter) untilFreed(freed <-chan struct{}) error {
	for {
		if err := w.until(freed); err != nil {
			return err
		}
		select {
		case <-freed:
			return nil
		default:
		}
	}
}

// say tells the user, who hears of it once. An attempt that goes on waiting for the same
// reason says nothing more: each hint is a line in the log.
func (w *waiter) say(text string) {
	if text == w.said {
		return
	}
	w.said = text
	if h, ok := w.run.(sdk.Hinter); ok {
		h.Hint(text)
	}
}

func asked(run sdk.Run) <-chan struct{} {
	if s, ok := run.(sdk.Stopper); ok {
		return s.Stopped()
	}
	return nil
}

// admit waits until there is room for the attempt; done is to be called when it has ended.
func (p *program) admit(w *waiter, n int) (done func(), err error) {
	for {
		ok, freed := p.room.take(n)
		if ok {
			return func() { p.room.giveBack(n) }, nil
		}
		w.say(fmt.Sprintf("no more programs run at a time than there are file descriptors for (ulimit -n is %d): the other trials wait for their turn; raise that limit, or set concurrency", openFilesLimit()))
		if err := w.until(freed); err != nil {
			return nil, err
		}
	}
}

// begin starts the attempt, again and again while the machine lacks something for it.
func (p *program) begin(w *waiter) (a *attempt, err error) {
	for {
		a = newAttempt(p, w.run)
		freed := p.room.change()
		if err = a.start(); !lacking(err) {
			return a, err
		}
		a.release()
		w.say(fmt.Sprintf("a program cannot be started now: %v; it is tried again until it can: make room on the machine, or set concurrency", cause(err)))
		if err := w.until(freed); err != nil {
			return newAttempt(p, w.run), err
		}
	}
}

// lacking says whether an error is of the machine, which lacks something for the moment.
func lacking(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
}

// cause is the system's word, which is the same for all trials: it is said once.
func cause(err error) error {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	return err
}
