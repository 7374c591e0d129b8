package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
)

// Executor starts the processes in which trials are trained. The program is the same for all
// executors; only the place differs.
type Executor interface {
	// Start starts a process at a granted place and connects to it. The process ends with
	// its host, or earlier with the context. Errors are *plugin.Error.
	Start(ctx context.Context, what process.Program, where Place) (plugin.Plugin, error)
}

// ErrLeaseOver says that a lease is over, so that nothing can be started on it.
var ErrLeaseOver = errors.New("its lease is over")

// Marked is the mark that processes carry. Leftover processes are found by it.
type Marked struct {
	Mark string // of their host
	// Guard is called before a process starts, so that something ends processes with the mark if the host dies;
	// nil: something does so already.
	Guard func() error
}

// Local is the executor of this machine. Its processes are children of the host in process groups of
// their own. They carry the host's mark: if the host is killed, the mark identifies them, and they
// are ended.
type Local struct {
	Marked
	// Log is called with each line that a process prints and the plugin's name; it may be nil.
	// LogPath is the file with these lines, for messages.
	Log     func(plugin string, line process.Line)
	LogPath string
}

// Start implements Executor.
func (l *Local) Start(ctx context.Context, what process.Program, where Place) (plugin.Plugin, error) {
	what.Env = slices.Concat(what.Env, where.Environment())
	return l.Run(ctx, what)
}

// Run starts a process that needs no place, such as a searcher.
func (l *Local) Run(ctx context.Context, what process.Program) (plugin.Plugin, error) {
	if l.Guard != nil {
		if err := l.Guard(); err != nil {
			return nil, fmt.Errorf("nobody would end what a plugin leaves behind: %w", err)
		}
	}
	what.Env = slices.Concat(what.Env, []string{local.MarkVariable + "=" + l.Mark})
	return process.Start(ctx, l.Config(what, process.ThisMachine{Tag: local.TagOf(l.Mark).Set}))
}

// Config returns how to start a program on a machine, with the host's log.
func (l *Local) Config(what process.Program, on process.Machine) process.Config {
	c := process.Config{Program: what, LogPath: l.LogPath, On: on}
	if l.Log != nil {
		name := string(what.Kind) + " " + what.Name
		c.Log = func(line process.Line) { l.Log(name, line) }
	}
	return c
}
