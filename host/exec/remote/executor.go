package remote

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
)

// Sessions are the connections to the agents of leases.
type Sessions interface {
	// Session waits for the connection to the agent of a bundle. It fails when the lease is gone or the
	// context ends.
	Session(ctx context.Context, lease core.LeaseID, bundle int) (link.Session, error)
}

// Executor implements exec.Executor for leases with agents.
type Executor struct {
	Sessions Sessions
	// Here starts processes that run on no lease.
	Here *exec.Local
	// Uploads are what processes need on their nodes; nil: nothing.
	Uploads *Uploads
}

var _ exec.Executor = (*Executor)(nil)

// Start implements exec.Executor. The process runs on the node of the first bundle, which is rank 0 of
// a group. The engine has set its environment there.
func (e *Executor) Start(ctx context.Context, what process.Program, where exec.Place) (plugin.Plugin, error) {
	if where.Lease == 0 {
		return e.Here.Start(ctx, what, where)
	}
	s, err := e.Sessions.Session(ctx, where.Lease, 0)
	if err != nil {
		return nil, unreachable(what, err)
	}
	moved, err := e.Uploads.move(ctx, where.Lease, s, what)
	if err != nil {
		return nil, notSent(what, s, err)
	}
	return process.Start(ctx, e.Here.Config(moved, Machine(ctx, s)))
}

// notSent returns the error for a process that was not started because its files are not on its node.
func notSent(what process.Program, s link.Session, err error) error {
	failure := plugin.NotStarted
	select {
	case <-s.Done():
		failure = plugin.Unreachable
	default:
	}
	return &plugin.Error{Plugin: fmt.Sprintf("%s %q", what.Kind, what.Name), Failure: failure,
		What: "is not started, because its files cannot be sent to its node: " + err.Error(), Err: err}
}

// unreachable returns the error for a process that was not started because its node cannot be reached.
func unreachable(what process.Program, err error) error {
	return &plugin.Error{Plugin: fmt.Sprintf("%s %q", what.Kind, what.Name), Failure: plugin.Unreachable,
		What: "cannot be started: " + err.Error(), Err: err}
}
