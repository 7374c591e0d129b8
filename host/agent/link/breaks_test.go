package link

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// B-075: a session continues after its connection broke, whether or not something uses it: what was on its way
// arrives, once, and streams stay open. The agent is connected all the time.
func TestBreaks(t *testing.T) {
	w := openHub(t, t.TempDir())
	p, ticket := w.through("th-1")
	run(t, ticket, 0, func(a *Agent) { a.Clock = newHandClock() })
	w.next(Connected)
	s, _ := w.Wait(t.Context(), "th-1", 0)
	conn := says(t, s, "hello")
	sent, got := numbered(8<<20), make(chan []byte)
	go func() {
		all, err := io.ReadAll(conn)
		if err != nil {
			t.Error(err)
		}
		got <- all
	}()
	for part := range slices.Chunk(sent, 1<<20) {
		if _, err := conn.Write(part); err != nil {
			t.Fatal(err)
		}
		p.cut()
		w.next(Suspect)
		w.next(Resumed)
	}
	_ = conn.(HalfCloser).CloseWrite()
	if all := <-got; !bytes.Equal(all, sent) {
		t.Errorf("%d bytes of %d came back", len(all), len(sent))
	}
	if now, err := w.Wait(t.Context(), "th-1", 0); err != nil || now != s {
		t.Error("the session is another one:", err)
	}
}

// numbered are bytes that show if some of them are missing, or there twice.
func numbered(n int) []byte {
	text := make([]byte, n)
	for i := range n / 8 {
		binary.BigEndian.PutUint64(text[8*i:], uint64(i))
	}
	return text
}

// An agent that the host has given up never continues its session: it is refused, and ends.
func TestComesBackTooLate(t *testing.T) {
	w := openHub(t, t.TempDir())
	p, ticket := w.through("th-1")
	var late atomic.Bool
	served := make(chan struct{})
	r := run(t, ticket, 0, func(a *Agent) {
		a.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			if late.Load() {
				address = w.Addresses()[0]
			}
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
		a.Serve = func(ctx context.Context, s Session) error {
			defer close(served) // it serves one session
			return echo(ctx, s)
		}
	})
	w.next(Connected)
	s, _ := w.Wait(t.Context(), "th-1", 0)
	_ = says(t, s, "hello")
	_ = p.Close()
	p.cut()
	w.next(Suspect)
	w.clock.advance(SilentFor + checkEvery)
	w.next(Lost)
	late.Store(true)
	var refused *RefusedError
	if err := <-r.ended; !errors.As(err, &refused) {
		t.Error(err)
	}
	<-served
	<-s.Done()
}

// An agent whose connection broke gives its session up a beat before the host does, so that whatever runs there has
// ended when its trial continues elsewhere.
func TestBrokenForTooLong(t *testing.T) {
	for _, host := range []bool{true, false} {
		a, b := net.Pipe()
		c := newHandClock()
		s, err := keptSession(a, host, c)
		if err != nil {
			t.Fatal(err)
		}
		_ = b.Close()
		for !s.rope.broken() {
			runtime.Gosched()
		}
		c.advance(BrokenFor - checkEvery)
		if s.mux.IsClosed() {
			t.Error("it ended too soon:", s.ended(nil))
		}
		c.advance(checkEvery)
		if s.mux.IsClosed() == host {
			t.Errorf("host %v: ended %v after %v", host, !host, BrokenFor)
		}
		c.advance(beatEvery)
		<-s.Done()
	}
}

// A greeting that comes late does not take the place of a later one; that of a session which the host does not have
// says so to the agent.
func TestLateGreeting(t *testing.T) {
	w := openHub(t, t.TempDir())
	r := run(t, w.expect("th-1", 1), 0)
	w.next(Connected)
	s, _ := w.Wait(t.Context(), "th-1", 0)
	conn := says(t, s, "hello")
	id := s.(*session).id
	<-r.served
	if _, got, err := r.greet(t.Context(), greeting{Session: id}); err == nil {
		t.Error("a late greeting is answered:", got)
	}
	if _, got, err := r.greet(t.Context(), greeting{Session: "another", Try: 1}); err != nil || got.Session != "" {
		t.Error(got, err)
	}
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

// What is kept for the other side is bounded: writers wait. The end of the session wakes them.
func TestKeepsNoMore(t *testing.T) {
	a, b := net.Pipe()
	_ = b.Close()
	l := newLasting(a)
	_, _ = l.Write([]byte("x")) // it does not reach the other side
	go func() { _, _ = io.Copy(io.Discard, l) }()
	for !l.broken() {
		runtime.Gosched()
	}
	if err := l.carry(a, 2); !errors.Is(err, errCount) {
		t.Error("the other side has bytes that were not sent:", err)
	}
	written := make(chan int)
	go func() {
		n, err := l.Write(make([]byte, 2*maxKept))
		if !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		written <- n
	}()
	for l.room() > 0 {
		runtime.Gosched()
	}
	_ = l.Close()
	if n := <-written; n != maxKept-1 {
		t.Error(n)
	}
}

func (l *lasting) room() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maxKept - len(l.kept)
}

// B-132: an agent whose node is taken away does not connect again: who cancels a job may close its connections first.
func TestLeavingIsNotMended(t *testing.T) {
	w := openHub(t, t.TempDir())
	p, ticket := w.through("th-1")
	leaving := make(chan struct{})
	leave := sync.OnceFunc(func() { close(leaving) })
	a := run(t, ticket, 0, func(a *Agent) {
		a.Leaving, a.Clock = leaving, newHandClock()
		a.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil { // it broke, and nothing can be reached
				leave()
			}
			return conn, err
		}
	})
	w.next(Connected)
	s, _ := w.Wait(t.Context(), "th-1", 0)
	says(t, s, "hello")
	_ = p.Close()
	p.cut()
	if err := <-a.ended; err != nil {
		t.Error(err)
	}
}

// A session that breaks again and again, each time before a beat arrives, is not silent: each greeting counts.
func TestBreaksForLong(t *testing.T) {
	w := openHub(t, t.TempDir())
	p, ticket := w.through("th-1")
	clocks := newHandClock()
	run(t, ticket, 0, func(a *Agent) { a.Clock = clocks })
	w.next(Connected)
	s, _ := w.Wait(t.Context(), "th-1", 0)
	conn := says(t, s, "hello")
	for range 20 {
		// No check of the keepalive is due, which would send a beat.
		clocks.jump(SilentFor / 5)
		w.clock.jump(SilentFor / 5)
		p.cut()
		w.next(Suspect)
		w.next(Resumed)
		if silent := s.(*session).conn.silent(); silent > 0 {
			t.Fatalf("it counts as silent for %v", silent)
		}
		if _, err := conn.Write([]byte("x")); err != nil { // when it is back, the agent has the answer
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
}

// An agent that has given its connection up while the host has noticed nothing says why.
func TestGivenUp(t *testing.T) {
	w := openHub(t, t.TempDir())
	p, ticket := w.through("th-1")
	clocks := newHandClock()
	var direct atomic.Bool
	run(t, ticket, 0, func(a *Agent) {
		a.Clock = clocks
		a.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			if direct.Load() {
				address = w.Addresses()[0]
			}
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	})
	w.next(Connected)
	s, _ := w.Wait(t.Context(), "th-1", 0)
	_ = says(t, s, "hello")
	direct.Store(true)
	p.block()
	clocks.advance(SilentFor + checkEvery)
	e := w.next(Lost)
	if want := "the agent has given the connection up: it heard nothing from this host for 5s"; e.Why != want {
		t.Errorf("%q, want %q", e.Why, want)
	}
}
