package agent

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/local"
)

// leftovers are processes that were not started by the host itself, but by a process that the host has started: the
// programs of trials, and processes that these leave behind. They may be in any session, and have any parent. All
// have the agent's mark.
type leftovers struct {
	// starting is held for reading while a process starts, so that kill sees each process.
	starting sync.RWMutex
	some     atomic.Bool // processes have started since the last kill
}

var errHostGone = errors.New("the connection to the host has ended")

// mayStart calls a function that starts a process, unless the session is over.
func (l *leftovers) mayStart(s link.Session, start func() error) error {
	l.starting.RLock()
	defer l.starting.RUnlock()
	select {
	case <-s.Done():
		return errHostGone
	default:
	}
	l.some.Store(true)
	return start()
}

// kill kills everything with a mark if a condition holds while nothing starts. It looks at all processes of the
// machine, and only if there can be any to kill.
func (l *leftovers) kill(mark string, when func() bool) {
	l.starting.Lock()
	defer l.starting.Unlock()
	if l.some.Load() && when() {
		local.KillMarked(mark)
		l.some.Store(false)
	}
}
