package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/plugin/process"
)

// child is a process on the node of an agent.
type child struct {
	session        link.Session
	id             string
	pid            int
	conn           net.Conn // of its own stream
	to             *message.Writer
	stdout, stderr *io.PipeReader
	outs, errs     *io.PipeWriter
	exited         chan struct{}
	exit           process.Exit // valid once exited is closed
}

var _ process.Child = (*child)(nil)

// newChild listens to a process that has started.
func newChild(s link.Session, conn net.Conn, id string, pid int) *child {
	c := &child{session: s, id: id, pid: pid, conn: conn, to: message.NewWriter(conn), exited: make(chan struct{})}
	c.stdout, c.outs = io.Pipe()
	c.stderr, c.errs = io.Pipe()
	go c.listen()
	return c
}

// listen receives what the agent reports about the process.
func (c *child) listen() {
	c.exit = c.hear()
	_ = c.conn.Close() // if the end is not known, the agent ends the process when it notices this
	_, _ = c.outs.Close(), c.errs.Close()
	close(c.exited)
}

func (c *child) hear() process.Exit {
	var buffer []byte
	for {
		f, err := message.Read(c.conn, buffer)
		if err != nil {
			return process.Exit{Unreachable: "the connection to its agent has ended: " + err.Error()}
		}
		buffer = f.Content
		switch f.Kind {
		case message.Stdout:
			_, _ = c.outs.Write(f.Content) // this fails once nobody reads
		case message.Stderr:
			_, _ = c.errs.Write(f.Content)
		case message.Exit:
			exit, err := message.ExitOf(f.Content)
			if err != nil {
				return process.Exit{Unreachable: "its agent broke the protocol: " + err.Error()}
			}
			return exit
		default:
			return process.Exit{Unreachable: fmt.Sprintf("its agent broke the protocol: a message of kind %q", f.Kind)}
		}
	}
}

// PID implements process.Child.
func (c *child) PID() int { return c.pid }

// Stdout implements process.Child.
func (c *child) Stdout() io.Reader { return c.stdout }

// Stderr implements process.Child.
func (c *child) Stderr() io.Reader { return c.stderr }

// Exited implements process.Child.
func (c *child) Exited() <-chan struct{} { return c.exited }

// Exit implements process.Child.
func (c *child) Exit() process.Exit { return c.exit }

// Signal implements process.Child. It does not wait for the node.
func (c *child) Signal(s syscall.Signal) {
	go func() { _ = c.to.Put(message.Signal, message.Signalled{Signal: int(s)}) }()
}

// killTime is how long a node may take to kill a process, before it is given up.
const killTime = 10 * time.Second

// Kill implements process.Child. It does not wait for the node.
func (c *child) Kill() {
	go func() {
		_ = c.conn.SetWriteDeadline(time.Now().Add(killTime))
		_ = c.to.Write(message.Kill, nil) // fails if the connection has ended, and then the agent kills it
		select {
		case <-c.exited:
		case <-time.After(killTime):
			_ = c.conn.Close()
		}
	}()
}

// Release implements process.Child.
func (c *child) Release() { _, _, _ = c.conn.Close(), c.stdout.Close(), c.stderr.Close() }

// Dial implements process.Child.
func (c *child) Dial(ctx context.Context, socket string) (net.Conn, error) {
	conn, err := Ask(ctx, c.session, message.StreamDial, message.Dial{ID: c.id, Socket: socket}, nil)
	if refused, ok := errors.AsType[*message.Refusal](err); ok && refused.Final {
		return nil, &process.RefusedError{Why: refused.Why}
	}
	return conn, err
}
