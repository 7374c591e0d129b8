// Package diskspace waits for room on a full disk (B-087), and for file descriptors,
// memory and processes that the machine lacks. It is for whatever can be tried again: the
// loop, which records, and training, which starts trials and saves.
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
)

// retry is how long somebody waits on a full disk before he tries again.
const retry = time.Second

// Disk knows who waits for room on it.
type Disk struct {
	log   *hostlog.Log
	clock clock.Clock

	mu      sync.Mutex
	waiting int
	short   bool // of something else than room
}

// New is a disk on which nobody waits.
func New(log *hostlog.Log, clock clock.Clock) *Disk { return &Disk{log: log, clock: clock} }

// WhenRoom does something, and while the disk is full again and again, until ending
// is closed.
func (d *Disk) WhenRoom(ending <-chan struct{}, do func() error) error {
	err := do()
	if !IsFull(err) {
		return err
	}
	return d.Wait(ending, err, do)
}

// Wait is WhenRoom after a first try, of which err came.
func (d *Disk) Wait(ending <-chan struct{}, err error, do func() error) error {
	d.lacks(err)
	for IsFull(err) && d.pause(ending) {
		err = do()
	}
	d.waited(err == nil)
	return err
}

// lacks says that somebody begins to wait.
func (d *Disk) lacks(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting++; d.waiting > 1 {
		return
	}
	if d.short = isShort(err); d.short {
		d.log.Once("short", fmt.Sprintf("the machine has nothing left of what the host needs (%v): "+
			"what needs it waits, and the experiment goes on by itself; run fewer trials at a time (concurrency), "+
			"or raise the limit (ulimit -n, ulimit -u)", cause(err)))
		return
	}
	d.log.Warn("the disk is full: nothing is started, recorded or saved until there is room; free some space, and the experiment goes on by itself")
}

// waited says that somebody waits no more, because there is room or for another
// reason.
func (d *Disk) waited(room bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting--; d.waiting > 0 || !room {
		return
	}
	if d.short {
		d.log.Info("what the machine lacked is there again; the experiment goes on")
	} else {
		d.log.Warn("there is room on the disk again; the experiment goes on")
	}
}

// pause waits a moment; false when ending is closed.
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

// IsFull says that it is worth waiting. A record that has failed is not written any
// more, whatever made it fail.
func IsFull(err error) bool {
	if errors.Is(err, journal.ErrFailed) {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, journal.ErrNoSpace) || isShort(err)
}

// cause is the system's word, where there is one: which trial it came to is chance.
func cause(err error) error {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	return err
}

// IsShort says that the machine lacks something else than room, which may be there when
// others have ended.
func IsShort(err error) bool { return !errors.Is(err, journal.ErrFailed) && isShort(err) }

// isShort says that the machine lacks file descriptors, memory or processes.
func isShort(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EAGAIN)
}

// SaysFull is IsFull for an error that comes from another process.
func SaysFull(text string) bool {
	return strings.Contains(text, syscall.ENOSPC.Error()) || strings.Contains(text, syscall.EDQUOT.Error())
}
