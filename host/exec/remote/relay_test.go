package remote

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/plugin/process"
)

// placing is what an agent's request for a rank leads to.
type placing func(ctx context.Context, bundle int, p *process.Program) (link.Session, error)

// asked has an agent ask for the program of bundle 2, and returns its stream.
func asked(t *testing.T, place placing) net.Conn {
	t.Helper()
	host, node := link.Pipe()
	t.Cleanup(func() { _ = host.Close() })
	go Relay(host, place)
	conn, err := node.Open(t.Context(), link.Purpose{Kind: message.StreamRank})
	if err == nil {
		err = message.NewWriter(conn).Put(message.Ask, message.Rank{Bundle: 2,
			Start: message.Start{ID: "x", Program: process.Program{Path: "/first/run"}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// A program starts on the node of its bundle, with the paths there.
func TestRelay(t *testing.T) {
	t.Parallel()
	to, other := link.Pipe()
	defer to.Close()
	started := make(chan message.Start, 1)
	go serve(other, func(c net.Conn) {
		var s message.Start
		_ = message.Expect(c, message.Ask, &s)
		started <- s
		_ = message.NewWriter(c).Put(message.Yes, message.Started{PID: 7})
	})
	conn := asked(t, func(_ context.Context, bundle int, p *process.Program) (link.Session, error) {
		Rewrite(p, []Move{{From: "/first", To: "/second"}})
		if bundle != 2 {
			return nil, errors.New("another bundle")
		}
		return to, nil
	})
	var s message.Started
	if err := message.Expect(conn, message.Yes, &s); err != nil || s.PID != 7 {
		t.Error(s, err)
	}
	if s := <-started; s.Program.Path != "/second/run" || s.ID != "x" {
		t.Errorf("%+v", s)
	}
}

// Why a node cannot be prepared is said.
func TestRelayFails(t *testing.T) {
	t.Parallel()
	conn := asked(t, func(context.Context, int, *process.Program) (link.Session, error) {
		return nil, errors.New("the lease is lost")
	})
	err := message.Expect(conn, message.Yes, nil)
	if err == nil || !strings.Contains(err.Error(), "the lease is lost") {
		t.Error(err)
	}
}

// When the trial ends while files are sent to a node, no more are sent.
func TestRelayIsNotWanted(t *testing.T) {
	t.Parallel()
	ended := make(chan error)
	conn := asked(t, func(ctx context.Context, _ int, _ *process.Program) (link.Session, error) {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	_ = conn.Close()
	if err := <-ended; !errors.Is(err, errUnwanted) {
		t.Error(err)
	}
}
