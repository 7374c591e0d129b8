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
	session link.Session
	id      string
	pid     int
	conn    net.Conn // of its own stream
	to      *message.Writer
	exited  chan struct{}
}

var _ process.Child = (*child)(nil)

// Attend implements process.Child.
func (c *child) Attend(stdout, stderr io.WriteCloser) process.Exit {
	defer close(c.exited)
	exit := c.hear(stdout, stderr)
	_ = c.conn.Close() // if the end is not known, the agent ends the process when it notices this
	_, _ = stdout.Close(), stderr.Close()
	return exit
}

// hear receives what the agent reports about the process.
func (c *child) hear(stdout, stderr io.Writer) process.Exit {
	var buffer []byte
	for {
		f, err := message.Read(c.conn, buffer)
		if err != nil {
			return process.Exit{Unreachable: "the connection to its agent has ended: " + err.Error()}
		}
		buffer = f.Content
		switch f.Kind {
		case message.Stdout:
			_, _ = stdout.Write(f.Content)
		case message.Stderr:
			_, _ = stderr.Write(f.Content)
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

// Dial implements process.Child.
func (c *child) Dial(ctx context.Context, socket string) (net.Conn, error) {
	conn, err := Ask(ctx, c.session, message.StreamDial, message.Dial{ID: c.id, Socket: socket}, nil)
	if refused, ok := errors.AsType[*message.Refusal](err); ok && refused.Final {
		return nil, &process.RefusedError{Why: refused.Why}
	}
	return conn, err
}
