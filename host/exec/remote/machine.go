package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"time"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/plugin/process"
)

// Machine returns the node of an agent, as a machine for processes. Nothing is started after the end of
// the context.
func Machine(ctx context.Context, s link.Session) process.Machine { return &machine{s, ctx} }

type machine struct {
	session link.Session
	until   context.Context
}

// Spawn implements process.Machine.
func (m *machine) Spawn(ctx context.Context, s process.Spec) (process.Child, error) {
	if err := m.until.Err(); err != nil {
		return nil, err
	}
	want := message.Start{ID: rand.Text(), Program: s.Program, Handshake: s.Handshake}
	want.Program.Inherit = nil // the host's environment is not sent
	var started message.Started
	conn, err := Ask(ctx, m.session, message.StreamStart, want, &started)
	if refused, ok := errors.AsType[*message.Refusal](err); ok {
		what := refused.Why
		if refused.Missing {
			what += "; its node does not have it: install it there, or list it in the executor's key upload"
		}
		return nil, &process.UnstartedError{What: what, Err: refused}
	}
	if err != nil {
		return nil, &process.UnreachableError{Why: err.Error()}
	}
	return &child{session: m.session, id: want.ID, pid: started.PID, conn: conn, to: message.NewWriter(conn),
		exited: make(chan struct{})}, nil
}

// answerTime is how long an agent may take to answer a request that needs only one or two system
// calls.
const answerTime = time.Minute

// Ask opens a stream of a kind, sends the request, and reads the first answer.
func Ask(ctx context.Context, s link.Session, kind string, want, answer any) (net.Conn, error) {
	conn, err := s.Open(ctx, link.Purpose{Kind: kind})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	if err = conn.SetDeadline(time.Now().Add(answerTime)); err == nil {
		err = message.NewWriter(conn).Put(message.Ask, want)
	}
	if err == nil {
		err = message.Expect(conn, message.Yes, answer)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
