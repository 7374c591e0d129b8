package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/tunehost/tunehost/host/agent/door"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/local/reaper"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
)

// RunOptions are the options of a program that is an agent.
type RunOptions struct {
	Ticket  link.Ticket
	Bundle  int
	Environ []string // as the engine gave it, as NAME=VALUE
	// Reaper is the command of a process that ends all processes with a mark when this program has
	// ended for any reason, see bundled.Registry.Reaper.
	Reaper func(mark string) *exec.Cmd
	Log    func(text string)
	// Socket is the socket for connections to the host that others open, see package door; "":
	// none.
	Socket string
	// Failure is why nothing can run here: the agent tells the host, and ends; "": something can.
	Failure string
	// Node is the name of the node, for messages.
	Node string
	// Leaving is closed when the engine has said that the node is taken away soon.
	Leaving <-chan struct{}
}

// Run connects to the host and carries out its requests, until the host needs the agent no longer, does
// not answer for its grace, or the context ends. Before it returns it ends all processes and removes the
// files of trials.
func Run(ctx context.Context, o RunOptions) (err error) {
	way, err := openDoor(o.Socket)
	if err != nil {
		return err
	}
	l := link.Agent{Ticket: o.Ticket, Bundle: o.Bundle, Log: o.Log, Clock: clock.System{}, Leaving: o.Leaving,
		Failure: o.Failure}
	if way != nil {
		defer way.Close()
		door.RemoveLeft(o.Socket, o.Ticket.Lease)
		l.Door = way
	}
	files, err := runtimedir.MakeLarge()
	if err != nil { // a full disk: the host is told, because nobody may see what this program prints
		l.Failure = cmp.Or(l.Failure, fmt.Sprintf("the agent on the node %s: %s", o.Node, NoRoom(err)))
		return errors.Join(err, l.Run(ctx))
	}
	defer func() { err = errors.Join(err, files.Remove()) }()
	mark := local.NewMark(files.Path())
	guard := reaper.NewGuard(mark, o.Reaper)
	defer guard.Close()
	a := New(Options{Mark: mark, Environ: o.Environ, Dir: files.Path(), Log: o.Log, Guard: guard.Start,
		Leaving: o.Leaving})
	defer a.Close()
	l.Serve = func(_ context.Context, s link.Session) error {
		_ = a.Serve(s) // its end is the session's
		return nil
	}
	return l.Run(ctx)
}

// NoRoom says why there is no folder for the files of an agent, and what to do about it.
func NoRoom(err error) string {
	why := err.Error()
	if none, ok := errors.AsType[*runtimedir.NoFolderError](err); ok {
		why = none.Why()
	}
	return why + `; make room there, or name another folder of the node in the executor's option setup: ` +
		`setup: "export TMPDIR=/scratch/me"`
}

// openDoor opens the door at a socket; nil: there is none.
func openDoor(socket string) (*door.Door, error) {
	if socket == "" {
		return nil, nil
	}
	return door.Open(socket)
}
