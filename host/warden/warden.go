// Package warden ends what a host leaves behind, however the host ended (B-025).
//
// A warden is a small process of its own. It holds one end of a pipe whose other
// end only the host has, so that the kernel tells it of the host's end, by SIGKILL
// too. Then it kills all that bears the host's mark (local.MarkVariable) or tag
// (local.Tag) and all that this has started, and ends.
//
// Only package host should need it.
package warden

import (
	"errors"
	"io"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"github.com/tunehost/tunehost/host/local"
)

// Warden is a warden's process, as its host sees it.
type Warden struct {
	mark  string
	cmd   *exec.Cmd
	watch io.Closer
}

// Start starts a warden: cmd is a program that calls [Serve] with the mark.
func Start(cmd *exec.Cmd, mark string) (*Warden, error) {
	// Nothing of it may be mistaken for the host's, or keep the host's output
	// open; and what a terminal sends to the host is not for it.
	cmd.Env, cmd.SysProcAttr = []string{}, &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	watch, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, watch.Close())
	}
	w := &Warden{mark: mark, cmd: cmd, watch: watch}
	living.add(w)
	return w, nil
}

// Close has the warden do its work, and returns when that is done.
func (w *Warden) Close() {
	living.remove(w)
	_ = w.watch.Close()
	if err := w.cmd.Wait(); err != nil {
		local.KillMarked(w.mark) // somebody has killed it
	}
}

// KillAll does at once what each warden of this program would do.
func KillAll() { living.killAll() }

// Serve is the warden's side: in ends when the host does.
func Serve(in io.Reader, mark string) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, in)
	local.KillMarked(mark)
}

var living = register{wardens: map[*Warden]bool{}}

type register struct {
	mu      sync.Mutex
	wardens map[*Warden]bool
}

func (g *register) add(w *Warden) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wardens[w] = true
}

func (g *register) remove(w *Warden) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.wardens, w)
}

func (g *register) killAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for w := range g.wardens {
		local.KillMarked(w.mark)
	}
}
