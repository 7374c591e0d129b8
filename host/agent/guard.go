package agent

import (
	"os/exec"
	"sync"

	"github.com/tunehost/tunehost/host/local/reaper"
)

// guard starts the warden before the first process. Earlier it would have nothing to end, and many agents that
// start together connect sooner without one.
type guard struct {
	cmd    *exec.Cmd
	mark   string
	mu     sync.Mutex
	warden *reaper.Warden // nil: not started
}

// start starts the warden, unless it runs.
func (g *guard) start() (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.warden == nil {
		g.warden, err = reaper.Start(g.cmd, g.mark)
	}
	return err
}

// close makes the warden end the processes.
func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.warden != nil {
		g.warden.Close()
	}
}
