package main

import (
	"os"
	"syscall"
	"time"
)

// A signal that comes twice within these times is one request: timeout(1) signals the host and then its process
// group, and the end of a terminal may reach the host from its shell and from the kernel. Nobody presses
// Ctrl-C twice as fast as that.
const (
	twiceWithin  = time.Second
	pressedTwice = 100 * time.Millisecond
)

// request is the signal that has interrupted a run.
type request struct {
	signal os.Signal
	at     time.Time
}

// again reports whether a later signal asks to leave at once. SIGUSR1 never does: a batch system may send
// it more than once.
func (r request) again(s os.Signal, now time.Time) bool {
	switch {
	case s == syscall.SIGUSR1:
		return false
	case s != r.signal:
		return true
	case s == os.Interrupt:
		return now.Sub(r.at) >= pressedTwice
	}
	return now.Sub(r.at) >= twiceWithin
}
