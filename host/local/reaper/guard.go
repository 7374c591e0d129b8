package reaper

import (
	"os/exec"
	"sync"

	"github.com/tunehost/tunehost/host/local"
)

// A Guard starts a reaper before the first process, not earlier: without processes there is nothing to end, and what
// starts none begins sooner. A nil Guard guards nothing.
type Guard struct {
	// Mark is that of the processes.
	Mark    string
	command func(mark string) *exec.Cmd

	mu     sync.Mutex
	used   bool
	reaper *Process // nil: not started
}

// NewGuard returns a guard of the processes with a mark. command is how a reaper is started; nil: there is none, and
// only Close ends the processes.
func NewGuard(mark string, command func(mark string) *exec.Cmd) *Guard {
	return &Guard{Mark: mark, command: command}
}

// Start starts the reaper, unless it runs. It is called before each process.
func (g *Guard) Start() (err error) {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used = true
	if g.reaper == nil && g.command != nil {
		g.reaper, err = Start(g.command(g.Mark), g.Mark)
	}
	return err
}

// Close ends all processes, and the reaper.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.reaper != nil:
		g.reaper.Close()
	case g.used:
		local.KillMarked(g.Mark)
	}
	g.reaper, g.used = nil, false
}
