// Package diskspace waits for room on a full disk (B-087), and for file descriptors, memory and
// processes that the machine lacks. The loop waits so to record, and attempts to start trials and
// save.
package diskspace

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/storage/lack"
)

// retry is the pause between two tries.
const retry = time.Second

// ownLimitFor is how long a host waits for its own file descriptors. Only what it does itself gives some back, which
// may wait for the same.
const ownLimitFor = time.Minute

// Disk counts who waits for room on it.
type Disk struct {
	log   *hostlog.Log
	clock clock.Clock
	// Dir is on the disk; "": not known.
	Dir string
	// Note tells readers of the experiment what the host waits for; nil: there are none.
	Note func(lack.Lack)

	mu      sync.Mutex
	waiting int
	short   error // something other than disk space is missing
	missing lack.Lack
}

// New returns a disk on which nothing waits.
func New(log *hostlog.Log, clock clock.Clock) *Disk { return &Disk{log: log, clock: clock} }

// Waits reports whether somebody waits.
func (d *Disk) Waits() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting > 0
}

// Lacks returns what somebody waits for.
func (d *Disk) Lacks() lack.Lack {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.missing
}

// WhenRoom calls do, and while the disk is full repeats it, until ending is closed. It repeats it for a minute only if
// this process has too many open files.
func (d *Disk) WhenRoom(ending <-chan struct{}, do func() error) error {
	err := do()
	if !IsFull(err) {
		return err
	}
	return d.Wait(ending, err, do)
}

// Wait is WhenRoom after a first try that failed with err.
func (d *Disk) Wait(ending <-chan struct{}, err error, do func() error) error {
	d.lacks(err)
	began := d.clock.Now()
	for IsFull(err) && !(ownLimit(err) && d.clock.Since(began) >= ownLimitFor) && d.pause(ending) {
		err = do()
	}
	d.waited(err == nil)
	return err
}

// lacks says that a caller begins to wait.
func (d *Disk) lacks(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting++; d.waiting > 1 {
		return
	}
	if d.short = nil; isShort(err) {
		d.short = fmt.Errorf("the machine has run out of a resource that the host needs (%w)", cause(err))
		d.log.InsistOnce("short", d.short.Error()+": the host waits and then continues by itself; run fewer trials at "+
			"a time (concurrency), or raise the limit (ulimit -n, ulimit -u)")
		return
	}
	d.note(d.Missing(err))
	d.log.Insist(d.missing.Waits())
}

// Unmet says how a host ends that is told to end while somebody waits; nil: nobody does.
func (d *Disk) Unmet() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.waiting == 0:
		return nil
	case d.short != nil:
		return Unmet(d.short.Error())
	}
	return Unmet(d.missing.String())
}

// Unmet is the error of a host that is told to end while it waits for what is missing, an [UnmetError].
func Unmet(missing string) error { return UnmetError(missing) }

// UnmetError is what a host lacked that was told to end: it has not failed by itself.
type UnmetError string

// ToldToEnd distinguishes it from a failure.
func (e UnmetError) ToldToEnd() {}

// Error implements error.
func (e UnmetError) Error() string {
	return string(e) + ", and the host was told to end: recorded events are kept, and the experiment can be resumed " +
		"once there is room"
}

// Missing returns what the disk lacks after a write has failed with err.
func (d *Disk) Missing(err error) lack.Lack { return lack.Of(d.Dir, err) }

// waited says that a caller waits no more, because there is room or for another reason.
func (d *Disk) waited(room bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting--; d.waiting > 0 {
		return
	}
	d.note(lack.Nothing)
	if !room {
		return
	}
	if d.short != nil {
		d.log.Info("the missing resource is available again; the experiment continues")
	} else {
		d.log.Insist("the disk has space again; the experiment continues")
	}
}

func (d *Disk) note(missing lack.Lack) {
	d.missing = missing
	if d.Note != nil {
		d.Note(missing)
	}
}

// pause waits a moment; it returns false when ending is closed.
func (d *Disk) pause(ending <-chan struct{}) bool {
	moment := make(chan struct{})
	stop := d.clock.AfterFunc(retry, func() { close(moment) })
	defer stop()
	select {
	case <-moment:
		return true
	case <-ending:
		return false
	}
}

// IsFull reports whether waiting may help. It does not help a record that has failed: that is not
// written any more.
func IsFull(err error) bool {
	if errors.Is(err, journal.ErrFailed) {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, journal.ErrNoSpace) ||
		isShort(err)
}

// Advise says what to do about an error of a host that cannot begin, if the disk is full: only a host that runs waits.
func Advise(err error) error {
	if errors.Is(err, syscall.EFBIG) {
		return TooLarge(err)
	}
	if !IsFull(err) || isShort(err) {
		return err
	}
	return fmt.Errorf("%w; free some space on the disk (at least 1 MiB and one file), and run the same command again",
		err)
}

// TooLarge says what to do if a file may not be as large as it has to be.
func TooLarge(err error) error {
	if !errors.Is(err, syscall.EFBIG) {
		return err
	}
	return fmt.Errorf("%w: a file has reached the largest size that this process may write; raise that limit (ulimit "+
		"-f), then resume the experiment", err)
}

// cause returns the system's error, if there is one; the trial that it happened to is arbitrary.
func cause(err error) error {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	return err
}

// IsShort reports that the machine lacks something other than disk space, which may be free once
// others end.
func IsShort(err error) bool { return !errors.Is(err, journal.ErrFailed) && isShort(err) }

// isShort reports that the machine lacks file descriptors, memory or processes.
func isShort(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) ||
		errors.Is(err, syscall.EAGAIN)
}

// ownLimit reports that this process has as many open files as it may have.
func ownLimit(err error) bool { return errors.Is(err, syscall.EMFILE) }

// SaysFull is IsFull for the text of an error from another process, in any language: Go writes its first letter small.
func SaysFull(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, syscall.ENOSPC.Error()) || strings.Contains(text, syscall.EDQUOT.Error())
}
