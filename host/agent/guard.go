package agent

import (
	"os/exec"
	"sync"

	"github.com/tunehost/tunehost/host/local/reaper"
)

// guard starts the reaper before the first process, not earlier: without processes there is nothing to end, and
// many agents that start together connect sooner.
type guard struct {
	cmd    *exec.Cmd
	mark   string
	mu     sync.Mutex
	reaper *reaper.Process // nil: not started
}

// start starts the reaper, unless it runs.
func (g *guard) start() (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reaper == nil {
		g.reaper, err = reaper.Start(g.cmd, g.mark)
	}
	return err
}

// close makes the reaper end the processes.
func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reaper != nil {
		g.reaper.Close()
	}
}
