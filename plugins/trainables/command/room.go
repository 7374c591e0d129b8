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

// The programs of one process share its file descriptors. Each attempt has logs, pipes, a socket
// with connections, and a descriptor of its process.
const (
	descriptorsOfAttempt = 8
	descriptorsOfWorker  = 5 // each except the first
	descriptorsOfPlugin  = 32
)

// retry is how long an attempt waits that could not start for lack of a resource, unless another
// attempt ends before.
const retry = time.Second

// A room holds back attempts for which there are no file descriptors, or that could not start for
// lack of memory or processes: this is not their fault, and ends when others end.
type room struct {
	mu    sync.Mutex
	left  int
	users int
	rests int // users that wait until another one has ended
	tries int
	freed chan struct{} // closed when an attempt ends
}

func newRoom(limit uint64) *room {
	return &room{left: int(min(limit, math.MaxInt32)) - descriptorsOfPlugin, freed: make(chan struct{})}
}

// openFilesLimit returns the maximum number of descriptors of this process.
func openFilesLimit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return math.MaxInt32
	}
	return uint64(l.Cur)
}

// take reports whether there is room for an attempt that needs n descriptors; freed is closed when
// that may have changed. One attempt at a time is always permitted.
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
	r.freed, r.rests = make(chan struct{}), 0
}

// change returns a channel that is closed when the next attempt ends.
func (r *room) change() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.freed
}

// A try is one run of an attempt's program.
type try struct {
	freed <-chan struct{} // closed when the next attempt ends
	no    int
	alone bool // no other attempt ran when it began
}

func (r *room) begin() try {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries++
	return try{r.freed, r.tries, r.users-r.rests <= 1}
}

// wasAlone reports whether no other attempt has run since the try began.
func (r *room) wasAlone(t try) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return t.alone && t.no == r.tries
}

// rest reports whether an attempt may wait until another one ends. The last one may not: all would wait for ever.
func (r *room) rest(t try) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.freed != r.freed { // another one has ended
		return true
	}
	if r.users-r.rests <= 1 {
		return false
	}
	r.rests++
	return true
}

// descriptors returns the number of descriptors that the attempt needs.
func (a *attempt) descriptors() int {
	n := descriptorsOfAttempt
	if a.isGang() {
		n += descriptorsOfWorker * (len(a.trial.Bundles) - 1)
	}
	return n
}

// A waiter is an attempt that is held back.
type waiter struct {
	ctx   context.Context
	run   sdk.Run
	began time.Time
	said  string
}

// until waits for a change, but not for long; an error ends the attempt.
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

// hint tells the user once. An attempt that keeps waiting for the same reason says nothing more,
// because each hint is a line in the log.
func (w *waiter) hint(text string) {
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

// admit waits until there is room for the attempt; call done when it has ended.
func (p *program) admit(w *waiter, n int) (done func(), err error) {
	for {
		ok, freed := p.room.take(n)
		if ok {
			return func() { p.room.giveBack(n) }, nil
		}
		w.hint(fmt.Sprintf("no more programs run at a time than there are file descriptors for (ulimit -n is %d): the "+
			"other trials wait for their turn; raise that limit, or set concurrency", openFilesLimit()))
		if err := w.until(freed); err != nil {
			return nil, err
		}
	}
}

// begin starts the attempt, with retries while the machine lacks a resource.
func (p *program) begin(w *waiter) (a *attempt, err error) {
	for {
		a = newAttempt(p, w.run)
		freed := p.room.change()
		if err = a.start(); !lacking(err) {
			return a, err
		}
		a.release()
		w.hint(fmt.Sprintf("a program cannot be started now: %v; it is tried again until it can: %s", cause(err),
			remedy(err)))
		if err := w.until(freed); err != nil {
			return newAttempt(p, w.run), err
		}
	}
}

// full reports whether a disk has no room or no inode, or the user no quota, for the files of a trial.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// remedy says what a user can do about a lack.
func remedy(err error) string {
	if full(err) {
		return "free space on the disk of the experiment, or remove files there if no inode is free"
	}
	return "make room on the machine, or set concurrency"
}

// lacking reports whether an error is a temporary lack of a resource, or of room on a disk.
func lacking(err error) bool {
	return full(err) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
}

// cause returns the system's error, which is the same for all trials, so it is shown once.
func cause(err error) error {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	return err
}
