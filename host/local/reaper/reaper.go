// Package reaper ends the processes that a host leaves behind, in whatever way the host ended (B-025).
//
// A reaper is a small process of its own. It holds one end of a pipe whose other end only the host
// has, so that the kernel reports the host's end to it, even after SIGKILL. It then kills all
// processes with the host's mark (local.MarkVariable) or tag (local.Tag) and their descendants, and
// ends. A host that ends as it should kills them itself and tells the reaper, which has not even
// initialized itself by then (package early).
//
// Commands that start plugins without being a host have a [Guard].
package reaper

import (
	"io"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/local/reaper/early"
	"github.com/tunehost/tunehost/host/smallheap"
)

// Command is the first argument of a reaper; the mark follows.
const Command = early.Command

// Process is the process of a reaper, as its host sees it.
type Process struct {
	mark  string
	cmd   *exec.Cmd
	watch io.WriteCloser
}

// Start starts a reaper: cmd is a program that calls [Serve] with the mark.
func Start(cmd *exec.Cmd, mark string) (*Process, error) {
	// The reaper must not have the host's mark, keep the host's output open, or get the signals of the
	// host's terminal.
	cmd.Env, cmd.SysProcAttr = []string{smallheap.Variable}, &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	watch, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		_ = watch.Close() // it may be closed already
		return nil, err
	}
	w := &Process{mark: mark, cmd: cmd, watch: watch}
	living.add(w)
	return w, nil
}

// Close kills the processes and ends the reaper, which would kill them if this process were killed meanwhile.
func (w *Process) Close() {
	living.remove(w)
	local.KillMarked(w.mark)
	_, _ = io.WriteString(w.watch, early.Over) // a reaper that was killed cannot hear it
	_ = w.watch.Close()
	if err := w.cmd.Wait(); err != nil {
		local.KillMarked(w.mark) // the reaper was killed
	}
}

// KillAll kills immediately the processes of all reapers of this program.
func KillAll() { living.killAll() }

// Serve is the code of a reaper, after package early or without it.
func Serve(mark string) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if !early.Await() {
		local.KillMarked(mark)
	}
}

var living = register{reapers: map[*Process]bool{}}

type register struct {
	mu      sync.Mutex
	reapers map[*Process]bool
}

func (g *register) add(w *Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reapers[w] = true
}

func (g *register) remove(w *Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.reapers, w)
}

func (g *register) killAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for w := range g.reapers {
		local.KillMarked(w.mark)
	}
}
