package link

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/tunehost/tunehost/host/agent/door"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk/bridge"
)

// stdio is the input and output of a bridge, as an engine would carry them.
type stdio struct {
	io.Reader
	io.WriteCloser
	end context.CancelFunc
}

func (p stdio) Close() error {
	p.end()
	return p.WriteCloser.Close()
}

// bridged runs a bridge, as an engine does on a node.
func bridged(ctx context.Context, socket string) (io.ReadWriteCloser, error) {
	ctx, end := context.WithCancel(ctx)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() { _ = outW.CloseWithError(door.Bridge(ctx, socket, inR, outW)) }()
	return stdio{outR, inW, end}, nil
}

// blocked is a network in which agents cannot connect to the host.
func blocked(context.Context, string) (net.Conn, error) {
	return nil, errors.New("blocked by the firewall")
}

// B-137: an agent that cannot connect to its host is reached through the engine, and again when that
// connection ends.
func TestThroughTheEngine(t *testing.T) {
	w := openHubBy(t, t.TempDir(), clock.System{})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.Serve(inner)
	socket := filepath.Join(testplace.Short(t), "d", "agent")
	var opened atomic.Int32
	ctx, end := context.WithCancel(t.Context())
	kept := make(chan struct{})
	go func() { // before the agent runs
		defer close(kept)
		bridge.Run(ctx, bridge.Config{Host: inner.Addr().String(),
			Open: func(ctx context.Context) (io.ReadWriteCloser, error) {
				opened.Add(1)
				return bridged(ctx, socket)
			}})
	}()
	way, err := door.Open(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer way.Close()
	run(t, w.expect("th-1", 1), 0, func(a *Agent) { a.Door, a.Dial = way, blocked })
	w.next(Connected)
	s, err := w.Wait(t.Context(), "th-1", 0)
	if err != nil {
		t.Fatal(err)
	}
	says(t, s, "hello").Close()
	testplace.Soon(t, "the end of the stream", func() bool { return !s.(*session).busy() })
	if n := opened.Load(); n != 2 {
		t.Errorf("%d bridges: one for the certificate and one for the session are enough", n)
	}
	_ = s.Close()
	w.next(Suspect)
	w.next(Back)
	if s, err = w.Wait(t.Context(), "th-1", 0); err != nil {
		t.Fatal(err)
	}
	says(t, s, "again")
	end()
	<-kept
}

// orphan is the bridge of a command of an engine. When the command is killed, the bridge lives on, and keeps its
// connection to the agent.
type orphan struct {
	net.Conn
	out *io.PipeReader
}

func newOrphan(socket string) (*orphan, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	go func() { _, _ = io.Copy(w, conn) }()
	return &orphan{conn, r}, nil
}

func (o *orphan) Read(p []byte) (int, error) { return o.out.Read(p) }
func (o *orphan) Close() error               { return o.out.Close() }

// B-075: the command that carries a connection is killed, which the agent does not notice. Its session continues on
// the next one.
func TestCommandIsKilled(t *testing.T) {
	w := openHub(t, t.TempDir())
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.Serve(inner)
	socket := filepath.Join(testplace.Short(t), "d", "agent")
	way, err := door.Open(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer way.Close()
	bridges := make(chan *orphan, 100)
	go bridge.Run(t.Context(), bridge.Config{Host: inner.Addr().String(),
		Open: func(context.Context) (io.ReadWriteCloser, error) {
			o, err := newOrphan(socket)
			bridges <- o
			return o, err
		}})
	run(t, w.expect("th-1", 1), 0, func(a *Agent) { a.Door, a.Dial, a.Clock = way, blocked, newHandClock() })
	w.next(Connected)
	s, err := w.Wait(t.Context(), "th-1", 0)
	if err != nil {
		t.Fatal(err)
	}
	conn := says(t, s, "hello")
	<-bridges // of the certificate
	_ = (<-bridges).Close()
	w.next(Suspect)
	w.next(Resumed)
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

// B-075: the next command is killed at once, too, while the agent is greeting its host through it. The agent does not
// wait for an answer there: it continues on the one after it.
func TestCommandsAreKilledInARow(t *testing.T) {
	w := openHub(t, t.TempDir())
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.Serve(inner)
	socket := filepath.Join(testplace.Short(t), "d", "agent")
	way, err := door.Open(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer way.Close()
	var opened, deaf atomic.Int32
	bridges := make(chan *orphan, 1000)
	go bridge.Run(t.Context(), bridge.Config{Host: inner.Addr().String(),
		Open: func(context.Context) (io.ReadWriteCloser, error) {
			o, err := newOrphan(socket)
			if err == nil && opened.Add(1) > 2 && deaf.Add(-1) >= 0 {
				_ = o.Close() // the agent's side lives on
			}
			bridges <- o
			return o, err
		}})
	run(t, w.expect("th-1", 1), 0, func(a *Agent) { a.Door, a.Dial, a.Clock = way, blocked, newHandClock() })
	w.next(Connected)
	s, err := w.Wait(t.Context(), "th-1", 0)
	if err != nil {
		t.Fatal(err)
	}
	conn := says(t, s, "hello")
	<-bridges // of the certificate
	carrying := <-bridges
	deaf.Store(2)
	_ = carrying.Close()
	w.next(Suspect)
	w.next(Resumed)
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}
